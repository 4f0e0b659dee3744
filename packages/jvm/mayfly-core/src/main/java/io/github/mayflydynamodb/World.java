package io.github.mayflydynamodb;

import java.net.URI;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Stream;
import software.amazon.awssdk.awscore.client.builder.AwsClientBuilder;
import software.amazon.awssdk.services.dynamodb.DynamoDbAsyncClient;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.streams.DynamoDbStreamsClient;

/**
 * An account of its own: tables, streams and a clock that nobody else sees or moves. Closing it empties the account.
 *
 * <p>Keys in calls are maps of strings, numbers, bytes or the SDK's AttributeValues: {@code Map.of("id", "1")}. What
 * the server refuses is a {@link ControlException}.
 */
public final class World implements AutoCloseable {
  static final String SECRET = "mayfly";
  private static final Duration AWAIT_MARGIN = Duration.ofSeconds(30);

  private final Server server;
  private final Control control;
  private final Clock clock;
  private final Clients clients;
  private final Map<String, LocalFunction> functions = new TreeMap<>();
  private final Set<String> registered = new TreeSet<>();

  World(Server server, Control control, HttpClients http) {
    this.server = server;
    this.control = control;
    this.clock = new Clock(control);
    this.clients = new Clients(control, http);
  }

  public Server server() {
    return server;
  }

  /** The endpoint, such as {@code http://127.0.0.1:40001}. */
  public URI url() {
    return control.url();
  }

  /** Twelve digits; the access key id that its requests are signed with. */
  public String account() {
    return control.account();
  }

  public String region() {
    return control.region();
  }

  /** What a child process needs to find this world by any AWS SDK, and by the commands of {@code mayfly}. */
  public Map<String, String> environment() {
    Map<String, String> variables = new LinkedHashMap<>();
    variables.put("AWS_ENDPOINT_URL_DYNAMODB", url().toString());
    variables.put("AWS_ENDPOINT_URL_DYNAMODB_STREAMS", url().toString());
    variables.put("AWS_ACCESS_KEY_ID", account());
    variables.put("AWS_SECRET_ACCESS_KEY", SECRET);
    variables.put("AWS_DEFAULT_REGION", region());
    variables.put("AWS_REGION", region());
    variables.put("MAYFLY_URL", url().toString());
    variables.put("MAYFLY_ACCOUNT", account());
    return variables;
  }

  public Clock clock() {
    return clock;
  }

  /** The world's client; it is closed with the world. */
  public DynamoDbClient dynamoDb() {
    return clients.client(DynamoDbClient.class, () -> configure(DynamoDbClient.builder()).build());
  }

  /** The world's client; it is closed with the world. */
  public DynamoDbAsyncClient dynamoDbAsync() {
    return clients.client(DynamoDbAsyncClient.class, () -> configure(DynamoDbAsyncClient.builder()).build());
  }

  /** The world's client; it is closed with the world. */
  public DynamoDbStreamsClient dynamoDbStreams() {
    return clients.client(DynamoDbStreamsClient.class, () -> configure(DynamoDbStreamsClient.builder()).build());
  }

  /**
   * Points any other client at this world: {@code world.configure(LambdaClient.builder()).build()}. It sets endpoint,
   * region, credentials, the HTTP client and overrideConfiguration; set what you like afterwards.
   */
  public <B extends AwsClientBuilder<B, ?>> B configure(B builder) {
    return clients.configure(builder);
  }

  /** A table's expiries. */
  public Ttl ttl(String table) {
    return new Ttl(control, table);
  }

  /** Why an item is still there, or is not. */
  public Explanation explain(String table, Map<String, ?> key) {
    return ttl(table).explain(key);
  }

  /** Waits for any change of an item, as {@link Wanted#change()} says. */
  public Change await(String table, Map<String, ?> key) {
    return await(table, key, Wanted.change());
  }

  /**
   * Waits for a change of an item, and returns it.
   *
   * @throws AwaitTimeoutException if there is none in time; it tells what happened instead
   */
  public Change await(String table, Map<String, ?> key, Wanted wanted) {
    try {
      return awaitOnce(table, key, wanted);
    } catch (ControlException refused) {
      if (!wanted.looksBackIfItCan() || !refused.getMessage().startsWith("since needs a stream")) {
        throw refused;
      }
    }
    try {
      return awaitOnce(table, key, wanted.fromNow());
    } catch (AwaitTimeoutException late) {
      throw late.and("The table " + table + " has no stream, so only what came after the call counts.");
    }
  }

  private Change awaitOnce(String table, Map<String, ?> key, Wanted wanted) {
    Map<String, Object> body = wanted.toJson();
    body.put("table", table);
    body.put("key", Keys.toJson(key));
    Map<String, Object> answer =
        control.call("POST", "/await", body, wanted.timeout().plus(AWAIT_MARGIN));
    return new Change(Json.object(answer.get("record")));
  }

  /** Keeps all of the world as it is now. */
  public Snapshot snapshot() {
    return new Snapshot(control, (String) control.call("POST", "/snapshots", Map.of()).get("id"));
  }

  /** Brings back a snapshot by its id, as of another process. */
  public void restore(String snapshotId) {
    new Snapshot(control, snapshotId).restore();
  }

  /** No tables, streams, snapshots, event source mappings, faults; the clock as it began. Functions stay. */
  public void reset() {
    control.call("POST", "/reset", Map.of());
  }

  /** Lets operations fail by these rules, instead of those from before. */
  public void faults(Fault... rules) {
    control.call("PUT", "/faults", Map.of("rules", Stream.of(rules).map(Fault::toJson).toList()));
  }

  /** The rules, and how often each was {@code asked} and {@code struck}. */
  public List<Map<String, Object>> faults() {
    return Json.objects(control.call("GET", "/faults", null).get("rules"));
  }

  public void clearFaults() {
    control.call("DELETE", "/faults", null);
  }

  /** Stops the item's expiry just before its deletion. */
  public Failpoint failpoint(String table, Map<String, ?> key) {
    return new Failpoint(control, table, key);
  }

  public void releaseFailpoints() {
    control.call("DELETE", "/failpoints", null);
  }

  /** Registers a function that event source mappings and Invoke can call: {@code url} takes a POST with the event. */
  public synchronized void function(String name, URI url) {
    control.call("PUT", "/functions/" + Control.segment(name), Map.of("url", url.toString()));
    registered.add(name);
  }

  /**
   * Registers a function of the test's own. It gets the event and returns what Lambda's would, as Map, List, String,
   * Number, Boolean or null; what it throws is the function's error. It runs in threads of its own, on this machine.
   */
  public synchronized void function(String name, Function<Map<String, Object>, ?> body) {
    LocalFunction function = new LocalFunction(body);
    try {
      function(name, function.url());
    } catch (MayflyException refused) {
      function.close();
      throw refused;
    }
    LocalFunction before = functions.put(name, function);
    if (before != null) {
      before.close();
    }
  }

  public synchronized void removeFunction(String name) {
    control.call("DELETE", "/functions/" + Control.segment(name), null);
    registered.remove(name);
    LocalFunction function = functions.remove(name);
    if (function != null) {
      function.close();
    }
  }

  /**
   * Lets a table's stream trigger a function, from the stream's beginning on: an event source mapping of Lambda's.
   *
   * @param function a name, which may be registered later
   * @param settings more members of CreateEventSourceMapping: {@code Map.of("BatchSize", 1)}
   * @return the mapping's UUID
   */
  public String trigger(String table, String function, Map<String, ?> settings) {
    Map<String, Object> shards = control.call("GET", "/streams/" + Control.segment(table) + "/shards", null);
    Map<String, Object> body = new LinkedHashMap<>();
    body.put("StartingPosition", "TRIM_HORIZON");
    body.putAll(settings);
    body.put("EventSourceArn", shards.get("stream"));
    body.put("FunctionName", function);
    return (String) Control.members(control.lambda("POST", "/event-source-mappings/", body)).get("UUID");
  }

  /** The same with Lambda's defaults. */
  public String trigger(String table, String function) {
    return trigger(table, function, Map.of());
  }

  /**
   * Any call of the control API: {@code control("GET", "/jobs", null)}.
   *
   * @param path what follows {@code /_mayfly}
   * @param body Map, List, String, Number, Boolean and null; null: none
   * @return the answer's members, numbers as Long or Double
   */
  public Map<String, Object> control(String method, String path, Map<String, ?> body) {
    return control.call(method, path, body);
  }

  /** Empties the account, as far as the server still answers, and closes the clients. */
  @Override
  public synchronized void close() {
    try {
      reset();
      for (String name : List.copyOf(registered)) {
        removeFunction(name);
      }
    } catch (MayflyException gone) {
      // The server has ended before, and the account with it.
    }
    functions.values().forEach(LocalFunction::close);
    functions.clear();
    clients.close();
  }

  @Override
  public String toString() {
    return "account " + account() + " at " + url();
  }
}

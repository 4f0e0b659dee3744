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
import software.amazon.awssdk.services.dynamodb.model.CreateTableRequest;
import software.amazon.awssdk.services.dynamodb.model.TableDescription;
import software.amazon.awssdk.services.dynamodb.streams.DynamoDbStreamsClient;

/**
 * An account of its own, with tables, streams and a clock that other worlds do not see. Closing it empties the account.
 *
 * <p>Keys in calls are maps of strings, numbers, bytes or the SDK's AttributeValues: {@code Map.of("id", "1")}. A call that
 * the server refuses throws a {@link ControlException}.
 */
public final class World implements AutoCloseable {
  static final String SECRET = "mayfly";
  private static final Duration AWAIT_MARGIN = Duration.ofSeconds(30);
  private static final Duration SETTLE_TIMEOUT = Duration.ofSeconds(30);
  /** How long the end of a test waits for functions that are running. */
  private static final Duration DELIVERY_TIMEOUT = Duration.ofSeconds(2);

  private final Server server;
  private final Control control;
  private final Clock clock;
  private final Clients clients;
  private final Map<String, LocalFunction> functions = new TreeMap<>();
  private final Set<String> registered = new TreeSet<>();
  private final Failures failures = new Failures();

  World(Server server, Control control, HttpClients http) {
    this.server = server;
    this.control = control;
    this.clock = new Clock(control, this::raise);
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

  /** The environment variables with which a child process uses this world, by any AWS SDK and by {@code mayfly}. */
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

  /**
   * Creates a table: {@code world.createTable(Table.named("carts").ttl("ttl"))}.
   *
   * @throws IllegalArgumentException if the keys contradict each other
   */
  public TableDescription createTable(Table table) {
    CreateTableRequest request = table.toRequest();
    TableDescription created = dynamoDb().createTable(request).tableDescription();
    table
        .ttl()
        .ifPresent(
            attribute ->
                dynamoDb()
                    .updateTimeToLive(
                        ttl ->
                            ttl.tableName(table.name())
                                .timeToLiveSpecification(on -> on.enabled(true).attributeName(attribute))));
    return created;
  }

  /**
   * Waits, for 30 s at most, until every record in the streams has reached its function. It does not wait for retries of a
   * failing function. The same as an advance by 0 s with {@link Travel#SETTLE}.
   *
   * @throws HandlerException if a function failed that was not registered with {@link FunctionOptions#mayFail}
   */
  public Advanced settle() {
    return settle(SETTLE_TIMEOUT);
  }

  /** The same with another time limit, in real time. */
  public Advanced settle(Duration atMost) {
    return clock.settle(atMost);
  }

  /** A table's time to live. */
  public Ttl ttl(String table) {
    return new Ttl(control, table);
  }

  /** Explains why an item is still there, or why it is not. */
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
   * @throws AwaitTimeoutException if there is none in time; it tells what happened instead, and why the item cannot
   *     expire if that is so
   */
  public Change await(String table, Map<String, ?> key, Wanted wanted) {
    try {
      return awaitOnce(table, key, wanted);
    } catch (ControlException refused) {
      if (!wanted.looksBackIfItCan() || !refused.getMessage().startsWith("'since' requires a stream")) {
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

  /** Takes a snapshot of the whole world. */
  public Snapshot snapshot() {
    return new Snapshot(control, (String) control.call("POST", "/snapshots", Map.of()).get("id"));
  }

  /** Restores a snapshot by its id, for example one of another process. */
  public void restore(String snapshotId) {
    new Snapshot(control, snapshotId).restore();
  }

  /** Removes tables, streams, snapshots, event source mappings and faults, and resets the clock. Functions stay. */
  public void reset() {
    control.call("POST", "/reset", Map.of());
  }

  /** Replaces all fault rules. */
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
  public void function(String name, URI url) {
    function(name, url, FunctionOptions.defaults());
  }

  /** The same with options. */
  public synchronized void function(String name, URI url, FunctionOptions options) {
    control.call("PUT", "/functions/" + Control.segment(name), options.toJson(url.toString()));
    registered.add(name);
    failures.declare(name, options.failuresExpected());
  }

  /**
   * Registers a function of the test's own. It gets the event as JSON and returns what Lambda's would, as Map, List,
   * String, Number, Boolean or null. It runs in threads of its own, on this machine.
   *
   * <p>An exception that it throws fails the invocation. It is printed, and fails the test with a {@link
   * HandlerException}: at the next settle, and at the latest when the test ends.
   */
  public void function(String name, Function<Map<String, Object>, ?> body) {
    function(name, body, FunctionOptions.defaults());
  }

  /** The same with options. */
  public void function(String name, Function<Map<String, Object>, ?> body, FunctionOptions options) {
    local(name, body::apply, options);
  }

  /**
   * Registers a function of the test's own that takes a table's changes: {@code world.streamFunction("reminder", event ->
   * event.records().forEach(…))}. An exception that it throws fails the test, as {@link #function(String, Function)} says.
   */
  public void streamFunction(String name, StreamHandler handler) {
    streamFunction(name, handler, FunctionOptions.defaults());
  }

  /** The same with options. */
  public void streamFunction(String name, StreamHandler handler, FunctionOptions options) {
    local(
        name,
        event -> {
          handler.handle(StreamEvent.of(event));
          return null;
        },
        options);
  }

  private synchronized void local(String name, LocalFunction.Body body, FunctionOptions options) {
    LocalFunction function = new LocalFunction(name, body, failures);
    try {
      function(name, function.url(), options);
    } catch (MayflyException refused) {
      function.close();
      throw refused;
    }
    LocalFunction before = functions.put(name, function);
    if (before != null) {
      before.close();
    }
  }

  /** The failed calls of the test's own functions, expected ones too, oldest first; at most 100. */
  public List<HandlerFailure> handlerFailures() {
    return failures.all();
  }

  /**
   * Throws if a function failed since the last HandlerException, and that was not expected. Waits until functions have
   * processed what was written, for two seconds at most. Test frameworks call this when a test ends.
   *
   * @throws HandlerException if one did
   */
  public void throwHandlerFailures() {
    List<LocalFunction> running;
    deliver();
    synchronized (this) {
      running = List.copyOf(functions.values());
    }
    long deadline = System.nanoTime() + DELIVERY_TIMEOUT.toNanos();
    running.forEach(function -> function.awaitIdle(deadline));
    raise(null);
  }

  private void deliver() {
    synchronized (this) {
      if (registered.isEmpty()) {
        return;
      }
    }
    try {
      control.call(
          "POST",
          "/clock/advance",
          Map.of("seconds", 0, "settle", "triggers", "settle_seconds", DELIVERY_TIMEOUT.toSeconds()));
    } catch (MayflyException gone) {
      // A server that has ended delivers nothing.
    }
  }

  private void raise(Advanced settled) {
    failures
        .take(settled)
        .ifPresent(
            failed -> {
              throw failed;
            });
  }

  /**
   * The latest items whose TTL never fires, or that had already expired when they were written: at most ten of each table.
   * Test frameworks print them when a test fails.
   */
  public List<TtlSuspect> ttlSuspects() {
    return Json.object(control.call("GET", "/ttl", null).get("tables")).entrySet().stream()
        .flatMap(table -> TtlStatus.suspects(table.getKey(), Json.object(table.getValue())).stream())
        .toList();
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
   * Lets a table's stream trigger a function, from the beginning of the stream: creates an event source mapping.
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

  /**
   * Empties the account, if the server still answers, and closes the clients.
   *
   * @throws HandlerException after all that, if a function failed since the last HandlerException
   */
  @Override
  public void close() {
    try {
      throwHandlerFailures();
    } finally {
      empty();
    }
  }

  private synchronized void empty() {
    try {
      reset();
      for (String name : List.copyOf(registered)) {
        removeFunction(name);
      }
    } catch (MayflyException gone) {
      // The server has ended, and the account with it.
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

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
 * A separate account with its own tables, streams and clock. A new world is empty, and its clock shows the host's
 * time. Closing the world empties the account.
 *
 * <p>Keys are maps of strings, numbers, bytes or the SDK's AttributeValues: {@code Map.of("id", "1")}. A call that the
 * server refuses throws a {@link ControlException}. A call that gets no response throws a {@link MayflyException}.
 */
public final class World implements AutoCloseable {
  static final String SECRET = "mayfly";
  private static final Duration AWAIT_MARGIN = Duration.ofSeconds(30);
  private static final Duration SETTLE_TIMEOUT = Duration.ofSeconds(30);
  /** The time limit for functions to process the remaining records when a test ends. */
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

  /** Returns the server that hosts the world. */
  public Server server() {
    return server;
  }

  /** Returns the server's URL, without a trailing slash, such as {@code http://127.0.0.1:40001}. */
  public URI url() {
    return control.url();
  }

  /** Returns the world's account, twelve digits. It is also the access key id. */
  public String account() {
    return control.account();
  }

  /** Returns the region for which the clients sign their requests. */
  public String region() {
    return control.region();
  }

  /**
   * Returns the environment variables that make AWS SDKs and the {@code mayfly} program in a child process use this
   * world.
   */
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

  /** Returns the world's clock. */
  public Clock clock() {
    return clock;
  }

  /** Returns the world's DynamoDB client, which is closed when the world is closed. */
  public DynamoDbClient dynamoDb() {
    return clients.client(DynamoDbClient.class, () -> configure(DynamoDbClient.builder()).build());
  }

  /** Returns the world's asynchronous DynamoDB client, which is closed when the world is closed. */
  public DynamoDbAsyncClient dynamoDbAsync() {
    return clients.client(DynamoDbAsyncClient.class, () -> configure(DynamoDbAsyncClient.builder()).build());
  }

  /** Returns the world's DynamoDB Streams client, which is closed when the world is closed. */
  public DynamoDbStreamsClient dynamoDbStreams() {
    return clients.client(DynamoDbStreamsClient.class, () -> configure(DynamoDbStreamsClient.builder()).build());
  }

  /**
   * Configures any other AWS client for this world: {@code world.configure(LambdaClient.builder()).build()}. This
   * method sets the endpoint, region, credentials, HTTP client and overrideConfiguration. Settings that the caller
   * makes later replace these settings.
   */
  public <B extends AwsClientBuilder<B, ?>> B configure(B builder) {
    return clients.configure(builder);
  }

  /**
   * Creates a table with on-demand capacity, and enables TTL if {@code table} names a TTL attribute: {@code
   * world.createTable(Table.named("carts").ttl("ttl"))}.
   *
   * @return the table's description
   * @throws IllegalArgumentException if {@code table} is invalid; in that case, no request is sent
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
   * Waits until every record in the world's streams has reached its function, for at most 30 s of real time. This
   * method does not wait for a function that keeps failing. Equivalent to an advance by 0 s with {@link Travel#SETTLE}.
   *
   * @throws HandlerException if a function that was not registered with {@link FunctionOptions#mayFail} failed
   */
  public Advanced settle() {
    return settle(SETTLE_TIMEOUT);
  }

  /** Like {@link #settle()}, but with a different time limit, in real time: at most ten minutes. */
  public Advanced settle(Duration atMost) {
    return clock.settle(atMost);
  }

  /** Returns the time to live of a table. The table does not have to exist yet. */
  public Ttl ttl(String table) {
    return new Ttl(control, table);
  }

  /** Explains why an item still exists, or why it does not. */
  public Explanation explain(String table, Map<String, ?> key) {
    return ttl(table).explain(key);
  }

  /** Waits for any change to an item, for at most 5 s; see {@link Wanted#change()}. */
  public Change await(String table, Map<String, ?> key) {
    return await(table, key, Wanted.change());
  }

  /**
   * Waits for a change to an item, and returns the change.
   *
   * @throws AwaitTimeoutException if no such change happens in time; the exception lists the item's other changes
   *     and, if the item can never expire, says why
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
      throw late.and("The table " + table + " has no stream, so only changes after the call count.");
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

  /** Saves the state of the world: tables, items, indexes, pending expiries, streams and clock. No data is copied. */
  public Snapshot snapshot() {
    return new Snapshot(control, (String) control.call("POST", "/snapshots", Map.of()).get("id"));
  }

  /** Restores a snapshot by its id, for example one that another process took. */
  public void restore(String snapshotId) {
    new Snapshot(control, snapshotId).restore();
  }

  /**
   * Deletes all tables, streams, snapshots, event source mappings and faults, and resets the clock. Registered
   * functions remain.
   */
  public void reset() {
    control.call("POST", "/reset", Map.of());
  }

  /** Replaces all fault rules of the world. */
  public void faults(Fault... rules) {
    control.call("PUT", "/faults", Map.of("rules", Stream.of(rules).map(Fault::toJson).toList()));
  }

  /**
   * Returns the fault rules. {@code asked} is the number of operations that a rule matched, and {@code struck} is the
   * number of operations that the rule was applied to.
   */
  public List<Map<String, Object>> faults() {
    return Json.objects(control.call("GET", "/faults", null).get("rules"));
  }

  /** Removes all fault rules of the world. */
  public void clearFaults() {
    control.call("DELETE", "/faults", null);
  }

  /** Arms a failpoint, which stops the item's expiry just before its deletion. */
  public Failpoint failpoint(String table, Map<String, ?> key) {
    return new Failpoint(control, table, key);
  }

  /** Releases all failpoints of the world. */
  public void releaseFailpoints() {
    control.call("DELETE", "/failpoints", null);
  }

  /**
   * Registers a function that runs at a URL, for event source mappings and Invoke, which send the event in a POST
   * request.
   */
  public void function(String name, URI url) {
    function(name, url, FunctionOptions.defaults());
  }

  /** Registers a function that runs at a URL, with options. */
  public synchronized void function(String name, URI url, FunctionOptions options) {
    control.call("PUT", "/functions/" + Control.segment(name), options.toJson(url.toString()));
    registered.add(name);
    failures.declare(name, options.failuresExpected());
  }

  /**
   * Registers a function in this JVM, for event source mappings and Invoke. The function receives the event as JSON and
   * returns its response as a Map, List, String, Number, Boolean or null. It runs in separate threads, and is served on
   * a free port of the loopback interface. A server on another machine or in a container cannot reach the function;
   * for such a server, use {@link #function(String, URI)}.
   *
   * <p>If the function throws an exception, the invocation and the test fail. The exception is printed, and thrown as
   * a {@link HandlerException} by the next settle or when the test ends.
   */
  public void function(String name, Function<Map<String, Object>, ?> body) {
    function(name, body, FunctionOptions.defaults());
  }

  /** Registers a function in this JVM, with options. */
  public void function(String name, Function<Map<String, Object>, ?> body, FunctionOptions options) {
    local(name, body::apply, options);
  }

  /**
   * Registers a function in this JVM that receives changes to a table's items: {@code world.streamFunction("reminder",
   * event -> event.records().forEach(…))}. If the function throws an exception, the test fails; see {@link
   * #function(String, Function)}.
   */
  public void streamFunction(String name, StreamHandler handler) {
    streamFunction(name, handler, FunctionOptions.defaults());
  }

  /** Registers a function in this JVM that receives changes to a table's items, with options. */
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

  /** Returns the failed calls to the test's own functions, oldest first, including expected failures; at most 100. */
  public List<HandlerFailure> handlerFailures() {
    return failures.all();
  }

  /**
   * Waits until the world's functions have processed the records written so far, for at most two seconds, and throws if
   * a function failed unexpectedly. Test frameworks call this method when a test ends.
   *
   * @throws HandlerException if a function failed unexpectedly, and no earlier call threw the failure
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
      // The server has ended, so there is nothing to deliver.
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
   * Returns the latest items whose TTL can never fire or had passed when they were written; at most ten for each table.
   * Test frameworks print them when a test fails.
   */
  public List<TtlSuspect> ttlSuspects() {
    return Json.object(control.call("GET", "/ttl", null).get("tables")).entrySet().stream()
        .flatMap(table -> TtlStatus.suspects(table.getKey(), Json.object(table.getValue())).stream())
        .toList();
  }

  /** Removes the registration of a function. */
  public synchronized void removeFunction(String name) {
    control.call("DELETE", "/functions/" + Control.segment(name), null);
    registered.remove(name);
    LocalFunction function = functions.remove(name);
    if (function != null) {
      function.close();
    }
  }

  /**
   * Creates an event source mapping that calls a function with the records of the table's stream, starting with the
   * oldest record.
   *
   * @param function the name of the function, which can be registered later
   * @param settings further members of Lambda's CreateEventSourceMapping request, such as {@code
   *     Map.of("BatchSize", 1)}
   * @return the UUID of the event source mapping
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

  /**
   * Creates an event source mapping that calls a function with the records of the table's stream, with Lambda's
   * defaults.
   */
  public String trigger(String table, String function) {
    return trigger(table, function, Map.of());
  }

  /**
   * Makes any call to the control API for this world: {@code control("GET", "/jobs", null)}.
   *
   * @param path the part after {@code /_mayfly}
   * @param body a Map of Map, List, String, Number, Boolean and null values; null: no body
   * @return the response's members; numbers are Long or Double
   */
  public Map<String, Object> control(String method, String path, Map<String, ?> body) {
    return control.call(method, path, body);
  }

  /**
   * Delivers the remaining records to functions, empties the account, stops the functions and closes the clients. No
   * step is skipped, even if a function has failed or the server no longer answers.
   *
   * @throws HandlerException if a function failed unexpectedly, and no earlier call threw the failure
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
      // The server has ended, so the account no longer exists.
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

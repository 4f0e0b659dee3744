package io.github.mayflydynamodb.junit5;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static software.amazon.awssdk.services.dynamodb.model.ScalarAttributeType.N;

import io.github.mayflydynamodb.Advanced;
import io.github.mayflydynamodb.Change;
import io.github.mayflydynamodb.Clock;
import io.github.mayflydynamodb.Fault;
import io.github.mayflydynamodb.FunctionOptions;
import io.github.mayflydynamodb.Index;
import io.github.mayflydynamodb.Server;
import io.github.mayflydynamodb.Snapshot;
import io.github.mayflydynamodb.Table;
import io.github.mayflydynamodb.Travel;
import io.github.mayflydynamodb.Wanted;
import io.github.mayflydynamodb.World;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.StreamViewType;

/** The examples of README.md. */
@MayflyTest
class CartsTest {
  @BeforeEach
  void create_carts(World world) {
    world.createTable(Table.named("carts").ttl("ttl"));
  }

  @Test
  void a_cart_is_gone_after_two_days(DynamoDbClient dynamoDb, Clock clock) {
    Carts carts = new Carts(dynamoDb, clock); // the clock is a java.time.Clock
    carts.put("1");
    clock.advance(Duration.ofHours(49));
    assertFalse(carts.has("1"));
  }

  @Test
  void an_expiry_can_be_awaited(World world, Clock clock) {
    clock.freeze(Instant.parse("2031-01-01T00:00:00Z"));
    new Carts(world.dynamoDb(), clock).put("1");
    assertEquals(Map.of("carts", 1L), clock.advance(Duration.ofHours(49)).tables());
    var change = world.await("carts", Map.of("id", "1"), Wanted.remove().byService());
    assertEquals("1", change.oldImage().get("id").s());
  }

  @Test
  void explain_says_why_an_item_still_exists(World world, Clock clock) {
    new Carts(world.dynamoDb(), clock).put("1");
    assertTrue(world.explain("carts", Map.of("id", "1")).message().contains("will be deleted at"));
  }

  @Test
  void a_snapshot_restores_items(World world, Clock clock) {
    Carts carts = new Carts(world.dynamoDb(), clock);
    carts.put("1");
    Snapshot snapshot = world.snapshot();
    clock.advanceToNextExpiry();
    snapshot.restore();
    assertTrue(carts.has("1"));
  }

  @Test
  void a_fault_makes_operations_fail(World world, Clock clock) {
    world.faults(Fault.throttle().operation("PutItem").count(2));
    new Carts(world.dynamoDb(), clock).put("1"); // the SDK retries
    assertEquals(2L, world.faults().get(0).get("struck"));
  }

  @Test
  void a_table_has_keys_a_stream_and_indexes(World world) {
    world.createTable(
        Table.named("orders")
            .key("customer")
            .sort("at", N) // ScalarAttributeType.N
            .ttl("ttl")
            .stream(StreamViewType.KEYS_ONLY)
            .index(Index.named("by_state").key("state").sort("at", N))
            .index(Index.named("by_total").local().sort("total", N).projection("state")));
    assertEquals(2, world.dynamoDb().listTables().tableNames().size());
  }

  @Test
  void a_function_receives_expired_items(World world, Clock clock) {
    List<Change> expired = new CopyOnWriteArrayList<>();
    world.streamFunction(
        "reminder",
        event -> event.records().stream().filter(Change::byService).forEach(expired::add));
    world.trigger("carts", "reminder"); // an event source mapping
    new Carts(world.dynamoDb(), clock).put("1");
    clock.advance(Duration.ofHours(49), Travel.SETTLE);
    assertEquals("1", expired.get(0).oldImage().get("id").s());
  }

  @Test
  void a_function_may_fail(World world, Clock clock) {
    world.streamFunction(
        "flaky",
        event -> {
          throw new IllegalStateException("not today");
        },
        FunctionOptions.defaults().mayFail());
    world.trigger("carts", "flaky", Map.of("MaximumRetryAttempts", 0));
    new Carts(world.dynamoDb(), clock).put("1");
    Advanced settled = world.settle();
    assertEquals("RetryAttemptsExhausted", settled.givenUp().get(0).condition());
    assertEquals("not today", world.handlerFailures().get(0).error().getMessage());
  }

  @Test
  void a_server_can_be_started_without_the_extension() {
    try (Server server = Server.start();
        World world = server.world()) {
      world.createTable(Table.named("carts"));
    }
  }
}

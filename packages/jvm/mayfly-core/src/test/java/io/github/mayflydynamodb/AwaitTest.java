package io.github.mayflydynamodb;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

class AwaitTest extends Fixture {
  private static final Map<String, String> KEY = Map.of("id", "1");

  @Test
  void an_await_after_an_advance_finds_the_changes_that_the_advance_made() {
    createCarts();
    putCart("1", START.plusSeconds(3600));
    clock.advance(Duration.ofHours(2));

    Change change = world.await("carts", KEY, Wanted.remove().byService());
    assertEquals(Change.Event.REMOVE, change.event());
    assertTrue(change.byService());
    assertEquals(Map.of("id", AttributeValue.fromS("1")), change.keys());
    assertEquals(AttributeValue.fromN(Long.toString(START.getEpochSecond() + 3600)), change.oldImage().get("ttl"));
    assertEquals(Map.of(), change.newImage());
    assertEquals(START.plusSeconds(3600), change.at());
    assertEquals("aws:dynamodb", change.json().get("eventSource"));
  }

  @Test
  void an_await_waits_for_a_later_change() {
    createCarts();
    var waiting = CompletableFuture.supplyAsync(() -> world.await("carts", KEY, Wanted.insert().byUser()));
    putCart("1", START.plusSeconds(3600));
    Change change = waiting.join();
    assertEquals(Change.Event.INSERT, change.event());
    assertFalse(change.byService());
    assertEquals("INSERT by user {\"id\":{\"S\":\"1\"}}", change.toString());
  }

  @Test
  void an_await_can_exclude_changes_before_a_time_or_before_the_call() {
    createCarts();
    putCart("1", START.plusSeconds(3600));
    clock.advance(Duration.ofMinutes(1));
    putCart("1", START.plusSeconds(7200));
    assertEquals(
        Change.Event.MODIFY, world.await("carts", KEY, Wanted.change().since(START.plusSeconds(60))).event());
    assertThrows(
        AwaitTimeoutException.class,
        () -> world.await("carts", KEY, Wanted.change().fromNow().within(Duration.ofMillis(1))));
  }

  @Test
  void an_await_that_times_out_lists_the_items_other_changes() {
    createCarts();
    putCart("1", START.plusSeconds(3600));
    AwaitTimeoutException late =
        assertThrows(
            AwaitTimeoutException.class,
            () -> world.await("carts", KEY, Wanted.remove().within(Duration.ofMillis(1))));
    String message = late.getMessage();
    assertTrue(
        message.startsWith(
            "Timed out after 0.001 s: only other changes to carts/{\"id\": \"1\"}. Its TTL is "),
        message);
    assertTrue(message.endsWith("\n  INSERT by user {\"id\":{\"S\":\"1\"}}"), message);
    assertEquals(408, late.httpStatus());
    assertEquals(
        List.of(Change.Event.INSERT), late.changes().stream().map(Change::event).toList());
  }

  @Test
  void on_a_table_without_a_stream_an_await_sees_only_changes_after_the_call() {
    clock.freeze(START);
    createCarts(false);
    putCart("1", START.plusSeconds(3600));
    AwaitTimeoutException late =
        assertThrows(
            AwaitTimeoutException.class,
            () -> world.await("carts", KEY, Wanted.insert().within(Duration.ofMillis(1))));
    assertEquals(
        "Timed out after 0.001 s: no change to carts/{\"id\": \"1\"}."
            + " The table carts has no stream, so only changes after the call count.",
        late.getMessage());
    ControlException refused =
        assertThrows(ControlException.class, () -> world.await("carts", KEY, Wanted.insert().since(START)));
    assertEquals("'since' requires a stream, but table 'carts' has none enabled.", refused.getMessage());
  }

  @Test
  void values_of_every_DynamoDB_type_are_converted_to_the_SDKs_values() {
    createCarts();
    Map<String, AttributeValue> item =
        Map.of(
            "id", AttributeValue.fromS("1"),
            "n", AttributeValue.fromN("1.5"),
            "b", AttributeValue.fromB(software.amazon.awssdk.core.SdkBytes.fromByteArray(new byte[] {1})),
            "ns", AttributeValue.fromNs(List.of("1")),
            "ss", AttributeValue.fromSs(List.of("a")),
            "bs", AttributeValue.fromBs(List.of(software.amazon.awssdk.core.SdkBytes.fromByteArray(new byte[] {2}))),
            "bool", AttributeValue.fromBool(true),
            "null", AttributeValue.fromNul(true),
            "l", AttributeValue.fromL(List.of(AttributeValue.fromS("x"), AttributeValue.fromN("1"))),
            "m", AttributeValue.fromM(Map.of("k", AttributeValue.fromS("v"))));
    world.dynamoDb().putItem(put -> put.tableName("carts").item(item));
    assertEquals(item, world.await("carts", KEY).newImage());
  }
}

package io.github.mayflydynamodb;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.mayflydynamodb.Explanation.Reason;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

class TtlTest extends Fixture {
  @Test
  void the_TTL_status_counts_pending_and_expired_items() {
    createCarts();
    putCart("1", START.plusSeconds(60));
    putCart("2", START.plusSeconds(3600));
    putCart("late", START.minusSeconds(60));
    clock.advance(Duration.ofMinutes(2));
    TtlStatus status = world.ttl("carts").status();
    assertEquals(
        new TtlStatus(
            true,
            Optional.of("ttl"),
            TtlMode.EXACT,
            1,
            0,
            Optional.of(START.plusSeconds(3600).plusMillis(1)),
            2,
            1,
            Map.of(),
            status.suspects()),
        status);
  }

  @Test
  void in_manual_mode_only_a_sweep_deletes_items() {
    createCarts();
    Ttl ttl = world.ttl("carts");
    assertEquals(TtlMode.MANUAL, ttl.manual().mode());
    putCart("1", START.plusSeconds(60));
    clock.advance(Duration.ofHours(1));
    assertTrue(hasCart("1"));
    assertEquals(Reason.DUE, ttl.explain(Map.of("id", "1")).reason());
    assertEquals(1, ttl.sweep());
    assertFalse(hasCart("1"));
    assertEquals(TtlMode.EXACT, ttl.exact().mode());
  }

  @Test
  void in_aws_mode_items_are_deleted_late() {
    createCarts();
    assertEquals(TtlMode.AWS, world.ttl("carts").aws().mode());
    world.ttl("carts").aws(Duration.ofMinutes(10), Duration.ofMinutes(20), 7);
    putCart("1", START.plusSeconds(60));
    clock.advance(Duration.ofMinutes(10));
    assertEquals(Reason.DELAYED, world.explain("carts", Map.of("id", "1")).reason());
    clock.advance(Duration.ofMinutes(12));
    assertFalse(hasCart("1"));
  }

  @Test
  void upcoming_expiries_are_listed_soonest_first() {
    createCarts();
    putCart("2", START.plusSeconds(120));
    putCart("1", START.plusSeconds(60));
    Upcoming next = world.ttl("carts").upcoming(1).get(0);
    assertEquals(Map.of("id", AttributeValue.fromS("1")), next.key());
    assertEquals(START.plusSeconds(60).plusMillis(1), next.due());
    assertEquals(Optional.of(next.due()), next.expiresAt());
    assertEquals(2, world.ttl("carts").upcoming(10).size());
  }

  @Test
  void explain_says_why_an_item_still_exists_or_why_it_does_not() {
    createCarts();
    putCart("1", START.plusSeconds(60));
    Explanation waits = world.explain("carts", Map.of("id", "1"));
    assertEquals(Reason.NOT_DUE, waits.reason());
    assertEquals(Optional.of(START.plusSeconds(60).plusMillis(1)), waits.expiresAt());
    clock.advance(Duration.ofMinutes(2));
    assertEquals(Reason.EXPIRED, world.explain("carts", Map.of("id", "1")).reason());
    putCart("1", START);
    Explanation born = world.explain("carts", Map.of("id", "1"));
    assertEquals(Reason.BORN_EXPIRED, born.reason());
    assertTrue(born.message().contains("different clock"), born.message());
    assertEquals(Reason.NO_ITEM, world.explain("carts", Map.of("id", "?")).reason());
  }

  @Test
  void every_reason_that_the_server_returns_has_an_enum_value() {
    createCarts();
    Map<String, AttributeValue> wrong =
        Map.of(
            "milliseconds", AttributeValue.fromN(Long.toString(START.toEpochMilli())),
            "not_a_number", AttributeValue.fromS("tomorrow"),
            "too_old", AttributeValue.fromN("1"));
    wrong.forEach(
        (reason, ttl) -> {
          world
              .dynamoDb()
              .putItem(
                  put -> put.tableName("carts").item(Map.of("id", AttributeValue.fromS(reason), "ttl", ttl)));
          assertEquals(reason.toUpperCase(), world.explain("carts", Map.of("id", reason)).reason().name());
        });
    world.dynamoDb().putItem(put -> put.tableName("carts").item(Map.of("id", AttributeValue.fromS("none"))));
    assertEquals(Reason.NO_ATTRIBUTE, world.explain("carts", Map.of("id", "none")).reason());
    world.reset();
    world
        .dynamoDb()
        .createTable(
            table ->
                table
                    .tableName("plain")
                    .billingMode("PAY_PER_REQUEST")
                    .attributeDefinitions(id -> id.attributeName("id").attributeType("S"))
                    .keySchema(id -> id.attributeName("id").keyType("HASH")));
    assertEquals(Reason.TTL_DISABLED, world.explain("plain", Map.of("id", "1")).reason());
  }

  @Test
  void items_with_a_suspect_TTL_are_counted_and_listed() {
    createCarts();
    put("string", AttributeValue.fromS("1795590184"));
    put("milliseconds", AttributeValue.fromN(Long.toString(START.toEpochMilli())));
    putCart("born", START.minusSeconds(60));
    Advanced advanced = clock.advance(Duration.ofHours(1));
    assertEquals(
        Map.of("carts", Map.of(TtlSuspect.Reason.STRING, 1L, TtlSuspect.Reason.MILLISECONDS, 1L)), advanced.never());
    assertEquals(Map.of("carts", 1L), advanced.bornExpired());
    assertEquals(advanced.never().get("carts"), world.ttl("carts").status().never());
    Map<String, TtlSuspect> suspects =
        world.ttlSuspects().stream()
            .collect(Collectors.toMap(each -> each.key().get("id").s(), each -> each));
    assertEquals(Set.of("string", "milliseconds", "born"), suspects.keySet());
    assertEquals(TtlSuspect.Reason.BORN_EXPIRED, suspects.get("born").reason());
    assertEquals("carts", suspects.get("string").table());
    assertTrue(suspects.get("string").message().contains("1795590184"), suspects.get("string").message());
    assertTrue(
        suspects.get("string").toString().startsWith("carts {\"id\":{\"S\":\"string\"}}: "),
        suspects.get("string").toString());
  }

  @Test
  void an_await_that_times_out_says_why_the_item_does_not_expire() {
    createCarts();
    put("1", AttributeValue.fromS("1795590184"));
    AwaitTimeoutException late =
        assertThrows(
            AwaitTimeoutException.class,
            () -> world.await("carts", Map.of("id", "1"), Wanted.remove().within(Duration.ofMillis(1))));
    assertTrue(late.getMessage().contains("Its TTL is a string (\"1795590184\")"), late.getMessage());
  }

  private void put(String id, AttributeValue ttl) {
    world
        .dynamoDb()
        .putItem(put -> put.tableName("carts").item(Map.of("id", AttributeValue.fromS(id), "ttl", ttl)));
  }
}

package io.github.mayflydynamodb;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.retries.api.AcquireInitialTokenRequest;
import software.amazon.awssdk.retries.api.RefreshRetryTokenRequest;
import software.amazon.awssdk.retries.api.RefreshRetryTokenResponse;
import software.amazon.awssdk.retries.api.RetryStrategy;
import software.amazon.awssdk.retries.api.RetryToken;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.DynamoDbException;
import software.amazon.awssdk.services.dynamodb.model.ProvisionedThroughputExceededException;

@DisplayName("Faults and failpoints")
class DisturbancesTest extends Fixture {
  @Test
  void a_fault_with_a_count_makes_that_many_operations_fail_and_counts_them() {
    createCarts();
    world.faults(Fault.throttle().operation("PutItem").table("carts").count(1));
    try (DynamoDbClient once = withoutRetries()) {
      assertThrows(
          ProvisionedThroughputExceededException.class,
          () -> once.putItem(put -> put.tableName("carts").item(Map.of("id", string("1")))));
      once.putItem(put -> put.tableName("carts").item(Map.of("id", string("1"))));
    }
    Map<String, Object> rule = world.faults().get(0);
    assertEquals(1L, rule.get("struck"));
    world.clearFaults();
    assertEquals(List.of(), world.faults());
  }

  @Test
  void the_SDK_retries_an_operation_that_a_fault_made_fail() {
    createCarts();
    world.faults(Fault.internalServerError().count(1));
    putCart("1", START.plusSeconds(60));
    assertTrue(hasCart("1"));
  }

  @Test
  void a_client_makes_as_many_retries_as_on_AWS_and_waits_at_most_10_ms_before_each() {
    createCarts();
    world.faults(Fault.throttle().operation("PutItem"));
    ProvisionedThroughputExceededException throttled =
        assertThrows(ProvisionedThroughputExceededException.class, () -> putCart("1", START.plusSeconds(60)));

    RetryStrategy strategy =
        world.dynamoDb().serviceClientConfiguration().overrideConfiguration().retryStrategy().orElseThrow();
    assertEquals((long) strategy.maxAttempts(), world.faults().get(0).get("struck"));
    RetryToken token = strategy.acquireInitialToken(AcquireInitialTokenRequest.create("PutItem")).token();
    for (int attempt = 2; attempt <= strategy.maxAttempts(); ++attempt) {
      RefreshRetryTokenResponse refreshed =
          strategy.refreshRetryToken(
              RefreshRetryTokenRequest.builder().token(token).failure(throttled).build());
      assertTrue(refreshed.delay().toMillis() <= 10, "before attempt " + attempt + ": " + refreshed.delay());
      token = refreshed.token();
    }
  }

  @Test
  void the_server_accepts_every_kind_of_fault() {
    createCarts();
    world.faults(
        Fault.throttle("RequestLimitExceeded").probability(0, 1),
        Fault.latency(Duration.ofMillis(1)),
        Fault.unprocessed(),
        Fault.unprocessed(1),
        Fault.transactionConflict(),
        Fault.staleReads(2),
        Fault.staleReads(Duration.ofSeconds(1)),
        Fault.replicatedWriteConflict());
    assertEquals(8, world.faults().size());
    try (DynamoDbClient once = withoutRetries()) {
      DynamoDbException failed =
          assertThrows(
              DynamoDbException.class,
              () -> once.putItem(put -> put.tableName("carts").item(Map.of("id", string("1")))));
      assertEquals("TransactionConflictException", failed.awsErrorDetails().errorCode());
    }
  }

  @Test
  void an_item_renewed_at_a_failpoint_survives() {
    createCarts();
    putCart("1", START.plusSeconds(60));
    try (Failpoint point = world.failpoint("carts", Map.of("id", "1"))) {
      assertFalse(point.isWaiting());
      var advance = CompletableFuture.supplyAsync(() -> clock.advance(Duration.ofHours(1)));
      point.awaitWaiting(Duration.ofSeconds(10));
      putCart("1", START.plusSeconds(24 * 3600));
      point.release();
      assertEquals(0, advance.join().expired());
    }
    assertTrue(hasCart("1"));
  }

  @Test
  void awaitWaiting_times_out_if_no_expiry_reaches_the_failpoint() {
    createCarts();
    try (Failpoint point = world.failpoint("carts", Map.of("id", "1"))) {
      MayflyException late = assertThrows(MayflyException.class, () -> point.awaitWaiting(Duration.ZERO));
      assertTrue(late.getMessage().endsWith("advance the clock past the item's TTL in another thread."), late.getMessage());
      world.releaseFailpoints();
    }
  }

  private DynamoDbClient withoutRetries() {
    return world
        .configure(DynamoDbClient.builder())
        .overrideConfiguration(override -> override.retryStrategy(retry -> retry.maxAttempts(1)))
        .build();
  }

  private static software.amazon.awssdk.services.dynamodb.model.AttributeValue string(String text) {
    return software.amazon.awssdk.services.dynamodb.model.AttributeValue.fromS(text);
  }
}

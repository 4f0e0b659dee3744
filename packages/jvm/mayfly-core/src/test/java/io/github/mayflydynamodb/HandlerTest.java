package io.github.mayflydynamodb;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

@DisplayName("Functions that fail")
class HandlerTest {
  private static final String DECLARE =
      " If the test expects this, register the function with FunctionOptions.defaults().mayFail().";
  private static final Map<String, Integer> ONCE = Map.of("MaximumRetryAttempts", 0);
  private static final StreamHandler FAILS =
      event -> {
        throw new IllegalStateException("no\n   cart");
      };
  private static final FunctionOptions OPTIONS = FunctionOptions.defaults();

  private final World world = Fixture.SERVER.world();

  private void carts(StreamHandler handler, Map<String, ?> mapping, FunctionOptions options) {
    world.clock().freeze(Fixture.START);
    world.createTable(Table.named("carts").ttl("ttl"));
    world.streamFunction("reminder", handler, options);
    world.trigger("carts", "reminder", mapping);
  }

  private void put(String id) {
    world.dynamoDb().putItem(put -> put.tableName("carts").item(Map.of("id", AttributeValue.fromS(id))));
  }

  @Test
  void settle_throws_a_failure_once_with_the_batches_that_were_given_up() {
    carts(FAILS, ONCE, OPTIONS);
    put("1");
    HandlerException thrown = assertThrows(HandlerException.class, world::settle);
    assertEquals(
        "Function reminder failed on table carts: Mayfly gave up 1 record after 1 attempt (RetryAttemptsExhausted). Its"
            + " last error was java.lang.IllegalStateException: no cart." + DECLARE,
        thrown.getMessage());
    assertTrue(thrown.getCause() instanceof IllegalStateException);
    HandlerFailure failure = thrown.failures().get(0);
    assertEquals("reminder", failure.function());
    assertSame(thrown.getCause(), failure.error());
    assertEquals(
        Map.of("id", AttributeValue.fromS("1")), StreamEvent.of(failure.event()).records().get(0).keys());

    Advanced settled = thrown.settled().orElseThrow();
    assertFalse(settled.settled());
    assertEquals(List.of(), settled.unfinished());
    GivenUp batch = settled.givenUp().get(0);
    assertEquals(
        List.of("reminder", "carts", "RetryAttemptsExhausted", 1L, 0L, Optional.empty()),
        List.of(
            batch.function(), batch.table(), batch.condition(), batch.attempts(), batch.leftOut(), batch.destination()));
    GivenUp.Lost lost = batch.records().get(0);
    assertEquals(Change.Event.INSERT, lost.event());
    assertEquals(Map.of("id", AttributeValue.fromS("1")), lost.key());
    assertTrue(lost.sequenceNumber().matches("\\d+"), lost.sequenceNumber());
    assertEquals(
        new FunctionError(
            200, Optional.of("Unhandled"), Optional.of("java.lang.IllegalStateException"), Optional.of("no\n   cart")),
        batch.error());

    assertTrue(world.settle().settled(), "the failure is thrown only once");
    world.close();
  }

  @Test
  void an_advance_with_SETTLE_throws_a_HandlerException_if_a_function_failed() {
    carts(FAILS, ONCE, OPTIONS);
    put("1");
    HandlerException thrown =
        assertThrows(HandlerException.class, () -> world.clock().advance(Duration.ofHours(1), Travel.SETTLE));
    assertEquals(Fixture.START.plusSeconds(3600), thrown.settled().orElseThrow().now());
    world.close();
  }

  @Test
  @Timeout(300) // shorter than the settle's limit of 600 s, so that the test fails if the settle waits for the batch
  void settle_does_not_wait_for_a_batch_that_is_retried_without_a_limit() {
    carts(FAILS, Map.of(), OPTIONS);
    put("1");
    HandlerException thrown = assertThrows(HandlerException.class, () -> world.settle(Duration.ofMinutes(10)));
    assertTrue(
        thrown
            .getMessage()
            .matches(
                "Function reminder keeps failing on table carts: \\d+ attempts for 1 record so far\\. Its last error was"
                    + " java\\.lang\\.IllegalStateException: no cart\\. .*"),
        thrown.getMessage());
    Unfinished mapping = thrown.settled().orElseThrow().unfinished().get(0);
    assertEquals("reminder", mapping.function());
    assertEquals("carts", mapping.table());
    assertEquals(1, mapping.retrying().orElseThrow().records());
    world.close(); // does not throw an exception for failures of later retries
  }

  @Test
  void settle_throws_a_failure_even_if_a_retry_succeeds() {
    AtomicInteger calls = new AtomicInteger();
    carts(
        event -> {
          if (calls.incrementAndGet() < 3) {
            throw new IllegalStateException("call " + calls);
          }
        },
        Map.of(),
        OPTIONS);
    put("1");
    HandlerException thrown = assertThrows(HandlerException.class, world::settle);
    assertEquals(
        "Function reminder failed 2 times. Its last error was java.lang.IllegalStateException: call 2." + DECLARE,
        thrown.getMessage());
    assertEquals("call 1", thrown.getCause().getMessage());
    assertEquals("call 2", thrown.getSuppressed()[0].getMessage());
    assertTrue(thrown.settled().orElseThrow().settled());
    world.close();
  }

  @Test
  void settle_does_not_throw_failures_of_a_function_that_may_fail() {
    carts(FAILS, ONCE, OPTIONS.mayFail());
    put("1");
    Advanced settled = world.settle();
    assertFalse(settled.settled());
    assertEquals("RetryAttemptsExhausted", settled.givenUp().get(0).condition());
    assertEquals("no\n   cart", world.handlerFailures().get(0).error().getMessage());
    world.close();
  }

  @Test
  void close_throws_failures_that_no_settle_threw_and_empties_the_world() {
    CountDownLatch called = new CountDownLatch(1);
    carts(
        event -> {
          called.countDown();
          FAILS.handle(event);
        },
        ONCE,
        OPTIONS);
    put("1");
    Await.until(() -> called.getCount() == 0);
    HandlerException thrown = assertThrows(HandlerException.class, world::close);
    assertEquals(
        "Function reminder failed 1 time. Its last error was java.lang.IllegalStateException: no cart." + DECLARE,
        thrown.getMessage());
    assertEquals(Optional.empty(), thrown.settled());
    assertEquals(Map.of("functions", List.of()), world.control("GET", "/functions", null));
    world.close();
  }

  @Test
  void close_delivers_the_remaining_records_and_throws_the_functions_failure() {
    carts(FAILS, Map.of("MaximumBatchingWindowInSeconds", 300, "MaximumRetryAttempts", 0), OPTIONS);
    put("1");
    HandlerException thrown = assertThrows(HandlerException.class, world::close);
    assertTrue(thrown.getMessage().startsWith("Function reminder failed 1 time."), thrown.getMessage());
  }

  @Test
  void settle_throws_if_a_triggers_function_is_not_registered() {
    carts(event -> {}, ONCE, OPTIONS);
    world.trigger("carts", "remindr");
    assertTrue(world.settle().settled()); // there are no records yet
    put("1");
    HandlerException thrown = assertThrows(HandlerException.class, world::settle);
    assertEquals(
        "Function remindr is not registered, but a trigger of table carts has records for it. Register the function, or"
            + " correct the trigger's function name.",
        thrown.getMessage());
    world.streamFunction("remindr", event -> {});
    assertTrue(world.settle().settled());
  }

  @Test
  void close_waits_for_a_running_function() throws Exception {
    CountDownLatch began = new CountDownLatch(1);
    CountDownLatch goOn = new CountDownLatch(1);
    carts(
        event -> {
          began.countDown();
          goOn.await();
          throw new AssertionError("late");
        },
        ONCE,
        OPTIONS);
    put("1");
    began.await();
    var closing = CompletableFuture.supplyAsync(() -> assertThrows(HandlerException.class, world::close));
    goOn.countDown();
    assertTrue(closing.join().getCause() instanceof AssertionError);
  }

  @Test
  void settle_throws_failures_of_a_function_at_a_URL_unless_the_function_may_fail() throws IOException {
    HttpServer elsewhere = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    elsewhere.createContext(
        "/",
        exchange -> {
          exchange.sendResponseHeaders(500, -1);
          exchange.close();
        });
    elsewhere.start();
    URI url = URI.create("http://127.0.0.1:" + elsewhere.getAddress().getPort());
    try {
      world.createTable(Table.named("carts"));
      world.function("elsewhere", url);
      world.trigger("carts", "elsewhere", ONCE);
      put("1");
      HandlerException thrown = assertThrows(HandlerException.class, world::settle);
      assertTrue(
          thrown
              .getMessage()
              .matches(
                  "Function elsewhere failed on table carts: Mayfly gave up 1 record after 1 attempt"
                      + " \\(RetryAttemptsExhausted\\)\\. Its last error was .*\\(HTTP status 500\\)\\. .*"),
          thrown.getMessage());
      assertNull(thrown.getCause());

      world.function("elsewhere", url, OPTIONS.mayFail().timeout(Duration.ofSeconds(3)));
      put("2");
      assertFalse(world.settle().settled());
    } finally {
      elsewhere.stop(0);
      world.close();
    }
  }

  @Test
  void a_stream_function_receives_typed_records() {
    List<Change> changes = new CopyOnWriteArrayList<>();
    carts(event -> changes.addAll(event.records()), Map.of(), OPTIONS);
    put("1");
    assertTrue(world.settle().settled());
    Change change = changes.get(0);
    assertEquals(Change.Event.INSERT, change.event());
    assertEquals(AttributeValue.fromS("1"), change.keys().get("id"));
    assertEquals(Map.of("id", AttributeValue.fromS("1")), change.newImage());
    assertEquals(Map.of(), change.oldImage());
    assertTrue(change.sequenceNumber().matches("\\d+"));
    world.close();
  }
}

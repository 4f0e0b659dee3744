package io.github.mayflydynamodb.junit5;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import io.github.mayflydynamodb.Clock;
import io.github.mayflydynamodb.FunctionOptions;
import io.github.mayflydynamodb.HandlerException;
import io.github.mayflydynamodb.Server;
import io.github.mayflydynamodb.Table;
import io.github.mayflydynamodb.World;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.platform.testkit.engine.EngineExecutionResults;
import org.junit.platform.testkit.engine.EngineTestKit;
import org.junit.platform.testkit.engine.Event;
import org.junit.platform.testkit.engine.EventType;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/** Tests how failures are reported. Runs the classes below with JUnit's engine and checks what the engine reports. */
class FailuresTest {
  @Test
  void the_servers_log_is_published_only_for_a_failed_test() {
    EngineExecutionResults results =
        EngineTestKit.engine("junit-jupiter")
            .selectors(selectClass(OneFails.class))
            .configurationParameter("mayfly.arguments", "--log-level debug")
            .execute();
    results.testEvents().assertStatistics(all -> all.succeeded(1).failed(1));
    List<Event> published = published(results);
    assertEquals(1, published.size());
    assertTrue(published.get(0).getTestDescriptor().getDisplayName().startsWith("the_test_fails"));
    var entries =
        published.get(0).getRequiredPayload(org.junit.platform.engine.reporting.ReportEntry.class).getKeyValuePairs();
    assertTrue(entries.get("mayfly.world").startsWith("account "), entries.toString());
    assertTrue(entries.get("mayfly.log").contains("PUT /_mayfly/clock"), entries.toString());
  }

  @MayflyTest
  static class OneFails {
    @Test
    void the_test_fails(Clock clock) {
      clock.freeze(Instant.parse("2031-01-01T00:00:00Z"));
      clock.advance(Duration.ofDays(500));
      assertEquals(1, 2);
    }

    @Test
    void the_test_passes(World world) {
      assertTrue(world.clock().freeze().tables().isEmpty());
    }
  }

  @Test
  void the_server_exits_after_the_last_test() {
    run(KeepsServer.class).testEvents().assertStatistics(all -> all.succeeded(1));
    assertFalse(KeepsServer.process.isAlive());
  }

  @MayflyTest
  static class KeepsServer {
    static ProcessHandle process;

    @Test
    void the_server_runs_during_the_test(Server server) {
      process = ProcessHandle.of(server.pid().orElseThrow()).orElseThrow();
      assertTrue(process.isAlive());
    }
  }

  @Test
  void a_failing_function_fails_only_its_own_test() {
    EngineExecutionResults results = run(FunctionsFail.class);
    results.testEvents().assertStatistics(all -> all.succeeded(1).failed(2));
    for (Event each : results.testEvents().failed().list()) {
      Throwable failure = failure(each);
      assertTrue(failure instanceof HandlerException, failure.toString());
      assertTrue(
          failure.getMessage().startsWith("Function reminder failed 1 time. Its last error was java.lang.AssertionError: no cart."),
          failure.getMessage());
      assertTrue(failure.getCause() instanceof AssertionError);
    }
    assertEquals(2, published(results).size());
  }

  @MayflyTest
  @TestMethodOrder(MethodOrderer.MethodName.class)
  static class FunctionsFail {
    private final CountDownLatch called = new CountDownLatch(1);

    private void fail(World world, FunctionOptions options) throws InterruptedException {
      world.createTable(Table.named("carts"));
      world.streamFunction(
          "reminder",
          event -> {
            called.countDown();
            throw new AssertionError("no cart");
          },
          options);
      world.trigger("carts", "reminder", Map.of("MaximumRetryAttempts", 0));
      world.dynamoDb().putItem(put -> put.tableName("carts").item(Map.of("id", AttributeValue.fromS("1"))));
      called.await();
    }

    @Test
    void first_a_function_fails(World world) throws InterruptedException {
      fail(world, FunctionOptions.defaults());
    }

    @Test
    void second_a_function_may_fail(World world) throws InterruptedException {
      fail(world, FunctionOptions.defaults().mayFail());
    }

    @Test
    @MayflyTest(world = WorldPer.CLASS)
    void third_a_function_fails_in_the_world_of_the_class(World world) throws InterruptedException {
      fail(world, FunctionOptions.defaults());
    }
  }

  @Test
  void a_failed_test_lists_items_with_a_suspect_TTL() {
    EngineExecutionResults results = run(NeverFires.class);
    results.testEvents().assertStatistics(all -> all.failed(1));
    String suspects =
        published(results)
            .get(0)
            .getRequiredPayload(org.junit.platform.engine.reporting.ReportEntry.class)
            .getKeyValuePairs()
            .get("mayfly.ttl");
    assertTrue(suspects.matches("  carts \\{\"id\":\\{\"S\":\"1\"}}: .*string.*1795590184.*\n"), suspects);
  }

  @MayflyTest
  static class NeverFires {
    @Test
    void the_test_fails(World world) {
      world.createTable(Table.named("carts").ttl("ttl"));
      world
          .dynamoDb()
          .putItem(
              put ->
                  put.tableName("carts")
                      .item(Map.of("id", AttributeValue.fromS("1"), "ttl", AttributeValue.fromS("1795590184"))));
      assertEquals(1, 2);
    }
  }

  @Test
  void after_a_servers_death_the_next_test_gets_a_new_server() {
    EngineExecutionResults results = run(Dies.class);
    results.testEvents().assertStatistics(all -> all.succeeded(1).failed(1));
    String message = failure(results.testEvents().failed().list().get(0)).getMessage();
    String ended = OS.WINDOWS.isCurrentOs() ? "exited with status 1" : "was killed by SIGKILL";
    assertTrue(
        message.startsWith("Mayfly's server " + ended + " before it answered ListTables. Its log:\n  "), message);
    assertFalse(Dies.last.isAlive());
  }

  @MayflyTest
  @TestMethodOrder(MethodOrderer.MethodName.class)
  @Execution(ExecutionMode.SAME_THREAD)
  static class Dies {
    static ProcessHandle last;

    @Test
    void first_the_server_dies(World world) {
      ProcessHandle.of(world.server().pid().orElseThrow()).orElseThrow().destroyForcibly();
      world.dynamoDb().listTables();
    }

    @Test
    void second_the_next_test_has_a_running_server(World world) {
      world.createTable(Table.named("carts"));
      last = ProcessHandle.of(world.server().pid().orElseThrow()).orElseThrow();
      assertTrue(last.isAlive());
    }
  }

  @Test
  void a_BeforeAll_method_cannot_use_the_world_of_a_test() {
    assertEquals(
        "The world of a test does not exist in a constructor, @BeforeAll or @AfterAll: take it as a parameter of the"
            + " test or of @BeforeEach, or share one with @MayflyTest(world = WorldPer.CLASS).",
        failure(run(TooEarly.class).containerEvents().failed().list().get(0)).getMessage());
  }

  @MayflyTest
  static class TooEarly {
    @BeforeAll
    static void takes(World world) {
      throw new AssertionError("the world " + world + " exists in @BeforeAll");
    }

    @Test
    void the_test_does_nothing() {}
  }

  @Test
  void a_failed_start_fails_each_test_with_the_starts_error_message() {
    String missing = Path.of("/no/such/mayfly").toString();
    EngineExecutionResults results =
        EngineTestKit.engine("junit-jupiter")
            .selectors(selectClass(OneFails.class))
            .configurationParameter("mayfly.binary", missing)
            .execute();
    List<Event> failed = results.testEvents().failed().list();
    assertEquals(2, failed.size());
    for (Event each : failed) {
      assertEquals(
          "The option binary is set to " + missing
              + ", but there is no such file: correct it, or remove it to use another program.",
          failure(each).getMessage());
    }
  }

  @Test
  void the_configuration_sets_the_servers_options() {
    EngineTestKit.engine("junit-jupiter")
        .selectors(selectClass(IsFrozen.class))
        .configurationParameter("mayfly.arguments", "--clock frozen")
        .configurationParameter("mayfly.start-timeout-seconds", "9.5")
        .execute()
        .testEvents()
        .assertStatistics(all -> all.succeeded(1));
  }

  @MayflyTest
  static class IsFrozen {
    @Test
    void the_clock_is_frozen(World world) {
      assertEquals("frozen", world.control("GET", "/clock", null).get("mode"));
    }
  }

  private static EngineExecutionResults run(Class<?> tests) {
    return EngineTestKit.engine("junit-jupiter").selectors(selectClass(tests)).execute();
  }

  private static List<Event> published(EngineExecutionResults results) {
    return results.allEvents().filter(event -> event.getType() == EventType.REPORTING_ENTRY_PUBLISHED).toList();
  }

  private static Throwable failure(Event event) {
    return event
        .getRequiredPayload(org.junit.platform.engine.TestExecutionResult.class)
        .getThrowable()
        .orElseThrow();
  }
}

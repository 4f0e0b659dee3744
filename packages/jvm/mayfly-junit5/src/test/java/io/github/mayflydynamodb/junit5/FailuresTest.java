package io.github.mayflydynamodb.junit5;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import io.github.mayflydynamodb.Clock;
import io.github.mayflydynamodb.Server;
import io.github.mayflydynamodb.World;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.platform.testkit.engine.EngineExecutionResults;
import org.junit.platform.testkit.engine.EngineTestKit;
import org.junit.platform.testkit.engine.Event;
import org.junit.platform.testkit.engine.EventType;

/** What JUnit is told when a test fails; the classes below are run by a JUnit in the JUnit. */
class FailuresTest {
  @Test
  void of_a_test_that_fails_the_servers_log_is_published_and_of_others_not() {
    EngineExecutionResults results =
        EngineTestKit.engine("junit-jupiter")
            .selectors(selectClass(OneFails.class))
            .configurationParameter("mayfly.arguments", "--log-level debug")
            .execute();
    results.testEvents().assertStatistics(all -> all.succeeded(1).failed(1));
    List<Event> published = published(results);
    assertEquals(1, published.size());
    assertTrue(published.get(0).getTestDescriptor().getDisplayName().startsWith("fails"));
    var entries =
        published.get(0).getRequiredPayload(org.junit.platform.engine.reporting.ReportEntry.class).getKeyValuePairs();
    assertTrue(entries.get("mayfly.world").startsWith("account "), entries.toString());
    assertTrue(entries.get("mayfly.log").contains("PUT /_mayfly/clock"), entries.toString());
  }

  @MayflyTest
  static class OneFails {
    @Test
    void fails(Clock clock) {
      clock.freeze(Instant.parse("2031-01-01T00:00:00Z"));
      clock.advance(Duration.ofDays(500));
      assertEquals(1, 2);
    }

    @Test
    void passes(World world) {
      assertTrue(world.clock().freeze().tables().isEmpty());
    }
  }

  @Test
  void the_server_ends_after_the_last_test() {
    run(KeepsServer.class).testEvents().assertStatistics(all -> all.succeeded(1));
    assertFalse(KeepsServer.process.isAlive());
  }

  @MayflyTest
  static class KeepsServer {
    static ProcessHandle process;

    @Test
    void keeps(Server server) {
      process = ProcessHandle.of(server.pid().orElseThrow()).orElseThrow();
      assertTrue(process.isAlive());
    }
  }

  @Test
  void a_world_for_each_test_cannot_be_had_before_all() {
    assertEquals(
        "a world for each test is not there yet in a constructor or @BeforeAll, nor still in @AfterAll: take it in"
            + " the test or in @BeforeEach, or say @MayflyTest(world = WorldPer.CLASS).",
        failure(run(TooEarly.class).containerEvents().failed().list().get(0)).getMessage());
  }

  @MayflyTest
  static class TooEarly {
    @BeforeAll
    static void takes(World world) {
      throw new AssertionError("not reached with " + world);
    }

    @Test
    void nothing() {}
  }

  @Test
  void a_server_that_does_not_start_is_told_by_each_test_and_tried_once() {
    EngineExecutionResults results =
        EngineTestKit.engine("junit-jupiter")
            .selectors(selectClass(OneFails.class))
            .configurationParameter("mayfly.binary", "/no/such/mayfly")
            .execute();
    List<Event> failed = results.testEvents().failed().list();
    assertEquals(2, failed.size());
    for (Event each : failed) {
      assertEquals(
          "there is no file /no/such/mayfly, which the option binary names: correct it, or leave it out to use"
              + " another.",
          failure(each).getMessage());
    }
  }

  @Test
  void the_configuration_gives_the_server_its_options() {
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
    void stands(World world) {
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

package io.github.mayflydynamodb.spring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import io.github.mayflydynamodb.FunctionOptions;
import io.github.mayflydynamodb.HandlerException;
import io.github.mayflydynamodb.Table;
import io.github.mayflydynamodb.World;
import io.github.mayflydynamodb.spring.shop.Carts;
import io.github.mayflydynamodb.spring.shop.Shop;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestMethodOrder;
import org.junit.jupiter.api.condition.OS;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.testkit.engine.EngineExecutionResults;
import org.junit.platform.testkit.engine.EngineTestKit;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/** Tests failing functions and dying servers. Runs the classes below with JUnit's engine. */
class FailuresTest {
  @Test
  void a_failing_function_fails_only_its_own_test() {
    EngineExecutionResults results = run(FunctionsFail.class);
    results.testEvents().assertStatistics(all -> all.succeeded(1).failed(1));
    assertThat(failures(results).get(0))
        .isInstanceOf(HandlerException.class)
        .hasMessageStartingWith("Function reminder failed 1 time. Its last error was java.lang.AssertionError: no cart.");
  }

  @SpringBootTest(classes = Shop.class, properties = "mayfly.arguments=--log-level,info")
  @TestMethodOrder(MethodOrderer.MethodName.class)
  static class FunctionsFail {
    private final CountDownLatch called = new CountDownLatch(1);
    @Autowired World world;

    private void fail(FunctionOptions options) throws InterruptedException {
      world.createTable(Table.named("orders"));
      world.streamFunction(
          "reminder",
          event -> {
            called.countDown();
            throw new AssertionError("no cart");
          },
          options);
      world.trigger("orders", "reminder", Map.of("MaximumRetryAttempts", 0));
      world.dynamoDb().putItem(put -> put.tableName("orders").item(Map.of("id", AttributeValue.fromS("1"))));
      called.await();
    }

    @Test
    void first_a_function_fails() throws InterruptedException {
      fail(FunctionOptions.defaults());
    }

    @Test
    void second_a_function_may_fail() throws InterruptedException {
      fail(FunctionOptions.defaults().mayFail());
    }
  }

  @Test
  void after_a_servers_death_the_next_test_gets_a_new_context() {
    String ended = OS.WINDOWS.isCurrentOs() ? "exited with status 1" : "was killed by SIGKILL";
    for (Class<?> each : List.of(Dies.class, DiesInOneInstance.class)) {
      EngineExecutionResults results = run(each);
      results.testEvents().assertStatistics(all -> all.succeeded(1).failed(1));
      assertThat(failures(results).get(0))
          .hasMessageStartingWith("Mayfly's server " + ended + " before it answered Scan. Its log:\n  ");
    }
  }

  // These arguments start a separate server, so that no other test's server dies.
  @SpringBootTest(classes = Shop.class, properties = "mayfly.arguments=--log-level,info,--clock,real")
  @TestMethodOrder(MethodOrderer.MethodName.class)
  static class Dies {
    @Autowired World world;
    @Autowired Carts carts;

    @Test
    void first_the_server_dies() {
      ProcessHandle.of(world.server().pid().orElseThrow()).orElseThrow().destroyForcibly();
      carts.count();
    }

    @Test
    void second_the_next_test_has_a_running_server() {
      carts.put("1");
      assertThat(carts.count()).isEqualTo(1);
      assertThat(world.server().hasDied()).isFalse();
    }
  }

  @TestInstance(TestInstance.Lifecycle.PER_CLASS)
  static class DiesInOneInstance extends Dies {}

  private static EngineExecutionResults run(Class<?> tests) {
    return EngineTestKit.engine("junit-jupiter").selectors(selectClass(tests)).execute();
  }

  private static List<Throwable> failures(EngineExecutionResults results) {
    return results.testEvents().failed().stream()
        .map(event -> event.getRequiredPayload(TestExecutionResult.class).getThrowable().orElseThrow())
        .toList();
  }
}

package io.github.mayflydynamodb.spring;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.mayflydynamodb.Clock;
import io.github.mayflydynamodb.Server;
import io.github.mayflydynamodb.ServerOptions;
import io.github.mayflydynamodb.World;
import io.github.mayflydynamodb.testcontainers.MayflyContainer;
import java.net.URI;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.testcontainers.service.connection.ServiceConnection;
import org.springframework.boot.testcontainers.service.connection.ServiceConnectionAutoConfiguration;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;

class AutoConfigurationTest {
  private final ApplicationContextRunner runner =
      new ApplicationContextRunner().withConfiguration(AutoConfigurations.of(MayflyAutoConfiguration.class));

  @Test
  void contexts_share_a_server_and_each_context_has_its_own_world() {
    runner.run(
        one ->
            runner.run(
                two -> {
                  assertThat(one.getBean(Server.class)).isSameAs(two.getBean(Server.class));
                  assertThat(one.getBean(World.class).account()).isNotEqualTo(two.getBean(World.class).account());
                  assertThat(one.getBean(java.time.Clock.class)).isInstanceOf(Clock.class);
                }));
  }

  @Test
  void closing_a_context_empties_its_account() {
    runner.run(
        first -> {
          World kept = first.getBean(World.class);
          kept.clock().freeze(java.time.Instant.parse("2031-01-01T00:00:00Z"));
          first.close();
          assertThat(kept.control("GET", "/clock", null)).containsEntry("mode", "real");
        });
  }

  @Test
  void setting_mayfly_enabled_to_false_disables_all_beans_of_Mayfly() {
    runner
        .withPropertyValues("mayfly.enabled=false")
        .run(context -> assertThat(context).doesNotHaveBean(World.class).doesNotHaveBean(DynamoDbClient.class));
  }

  @Test
  void a_context_with_other_arguments_gets_a_separate_server() {
    runner
        .withPropertyValues("mayfly.arguments=--clock,frozen")
        .run(
            context ->
                assertThat(context.getBean(World.class).control("GET", "/clock", null))
                    .containsEntry("mode", "frozen"));
  }

  @Test
  void setting_mayfly_replace_to_false_keeps_the_applications_own_beans() {
    runner
        .withUserConfiguration(OwnClock.class)
        .withPropertyValues("mayfly.replace=false")
        .run(context -> assertThat(context.getBean(java.time.Clock.class)).isNotInstanceOf(Clock.class));
    runner
        .withUserConfiguration(OwnClock.class)
        .run(
            context ->
                assertThat(context.getBean("ownClock")).isEqualTo(context.getBean(World.class).clock()));
  }

  @Configuration(proxyBeanMethods = false)
  static class OwnClock {
    @Bean
    java.time.Clock ownClock() {
      return java.time.Clock.systemUTC();
    }
  }

  @Test
  void a_connection_details_bean_selects_an_existing_server() {
    try (Server running = Server.start(ServerOptions.defaults().arguments("--clock", "frozen"))) {
      runner
          .withBean(MayflyConnectionDetails.class, () -> running::url)
          .run(context -> assertThat(context.getBean(World.class).url()).isEqualTo(running.url()));
    }
  }

  @Test
  void a_context_uses_a_container_that_is_annotated_with_ServiceConnection() {
    try (Server running = Server.start()) {
      NotReallyAContainer.url = running.url();
      runner
          .withConfiguration(AutoConfigurations.of(ServiceConnectionAutoConfiguration.class))
          .withUserConfiguration(WithContainer.class)
          .run(
              context -> {
                assertThat(context.getBean(MayflyConnectionDetails.class).url()).isEqualTo(running.url());
                assertThat(context.getBean(World.class).url()).isEqualTo(running.url());
              });
    }
  }

  @Configuration(proxyBeanMethods = false)
  static class WithContainer {
    @Bean
    @ServiceConnection
    MayflyContainer mayflyContainer() {
      return new NotReallyAContainer();
    }
  }

  /** A fake container for tests without a container engine. Its URL is that of a server on this machine. */
  static final class NotReallyAContainer extends MayflyContainer {
    static volatile URI url;

    @Override
    public void start() {}

    @Override
    public void stop() {}

    @Override
    public URI url() {
      return url;
    }
  }
}

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
  void contexts_share_a_server_and_have_a_world_each() {
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
  void a_context_that_is_closed_leaves_its_account_empty() {
    runner.run(
        first -> {
          World kept = first.getBean(World.class);
          kept.clock().freeze(java.time.Instant.parse("2031-01-01T00:00:00Z"));
          first.close();
          assertThat(kept.control("GET", "/clock", null)).containsEntry("mode", "real");
        });
  }

  @Test
  void without_mayfly_enabled_there_is_nothing() {
    runner
        .withPropertyValues("mayfly.enabled=false")
        .run(context -> assertThat(context).doesNotHaveBean(World.class).doesNotHaveBean(DynamoDbClient.class));
  }

  @Test
  void arguments_reach_a_server_of_their_own() {
    runner
        .withPropertyValues("mayfly.arguments=--clock,frozen")
        .run(
            context ->
                assertThat(context.getBean(World.class).control("GET", "/clock", null))
                    .containsEntry("mode", "frozen"));
  }

  @Test
  void the_applications_own_beans_stay_if_it_says_so() {
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
  void connection_details_name_a_server_that_runs() {
    try (Server running = Server.start(ServerOptions.defaults().arguments("--clock", "frozen"))) {
      runner
          .withBean(MayflyConnectionDetails.class, () -> running::url)
          .run(context -> assertThat(context.getBean(World.class).url()).isEqualTo(running.url()));
    }
  }

  @Test
  void a_container_with_ServiceConnection_is_where_the_context_goes() {
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

  /** Stands for a container where there is no engine: it is "started", and a server on this machine is in it. */
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

package io.github.mayflydynamodb.spring;

import io.github.mayflydynamodb.Clock;
import io.github.mayflydynamodb.EnhancedClients;
import io.github.mayflydynamodb.Server;
import io.github.mayflydynamodb.World;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Lazy;
import org.springframework.core.env.Environment;
import software.amazon.awssdk.enhanced.dynamodb.DynamoDbEnhancedClient;
import software.amazon.awssdk.services.dynamodb.DynamoDbAsyncClient;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.streams.DynamoDbStreamsClient;

/**
 * Gives each application context a {@link World}, the world's clients, and the world's clock as the {@link
 * java.time.Clock} bean. The server is the one that a {@link MayflyConnectionDetails} bean names or, without such a
 * bean, the one at {@code mayfly.url} or {@code MAYFLY_URL}. If none of these is set, one server is started for all
 * contexts in the JVM.
 */
@AutoConfiguration
@ConditionalOnProperty(prefix = "mayfly", name = "enabled", matchIfMissing = true)
@EnableConfigurationProperties(MayflyProperties.class)
public class MayflyAutoConfiguration {

  @Bean
  static ReplaceOwnBeans mayflyReplacesOwnBeans(Environment environment) {
    return new ReplaceOwnBeans(environment.getProperty("mayfly.replace", Boolean.class, true));
  }

  @Bean
  BeginsAgain mayflyBeginsAgain(MayflyProperties properties, World world) {
    return new BeginsAgain(world, properties.restore());
  }

  @Bean(destroyMethod = "") // The server exits when the JVM exits.
  @ConditionalOnMissingBean
  Server mayflyServer(MayflyProperties properties, ObjectProvider<MayflyConnectionDetails> details) {
    MayflyConnectionDetails running = details.getIfAvailable();
    return SharedServers.get(
        running == null ? properties.serverOptions() : properties.serverOptions().url(running.url()));
  }

  @Bean
  @ConditionalOnMissingBean
  World mayflyWorld(Server server) {
    return server.world();
  }

  @Bean
  @ConditionalOnMissingBean(java.time.Clock.class)
  Clock mayflyClock(World world) {
    return world.clock();
  }

  // The world closes its clients, so Spring must not close them.

  @Bean(destroyMethod = "")
  @ConditionalOnMissingBean
  DynamoDbClient mayflyDynamoDbClient(World world) {
    return world.dynamoDb();
  }

  @Bean(destroyMethod = "")
  @ConditionalOnMissingBean
  @Lazy // The bean needs an asynchronous HTTP client on the class path, so it is created only if it is used.
  DynamoDbAsyncClient mayflyDynamoDbAsyncClient(World world) {
    return world.dynamoDbAsync();
  }

  @Bean(destroyMethod = "")
  @ConditionalOnMissingBean
  DynamoDbStreamsClient mayflyDynamoDbStreamsClient(World world) {
    return world.dynamoDbStreams();
  }

  @Configuration(proxyBeanMethods = false)
  @ConditionalOnClass(DynamoDbEnhancedClient.class)
  static class Enhanced {
    @Bean
    @ConditionalOnMissingBean
    DynamoDbEnhancedClient mayflyDynamoDbEnhancedClient(World world) {
      return EnhancedClients.of(world);
    }
  }
}

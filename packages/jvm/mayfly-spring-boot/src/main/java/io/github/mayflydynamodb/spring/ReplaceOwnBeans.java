package io.github.mayflydynamodb.spring;

import io.github.mayflydynamodb.World;
import java.util.Map;
import java.util.function.Function;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.beans.factory.support.BeanDefinitionRegistryPostProcessor;
import org.springframework.beans.factory.support.RootBeanDefinition;
import software.amazon.awssdk.services.dynamodb.DynamoDbAsyncClient;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.streams.DynamoDbStreamsClient;

/**
 * Replaces the application's own clients and clock with those of the world, under the same names, so that no test calls
 * AWS by mistake and the program uses the world's time. The application's own beans are not created.
 */
class ReplaceOwnBeans implements BeanDefinitionRegistryPostProcessor {
  private static final Map<Class<?>, Function<World, Object>> REPLACED =
      Map.of(
          DynamoDbClient.class, World::dynamoDb,
          DynamoDbAsyncClient.class, World::dynamoDbAsync,
          DynamoDbStreamsClient.class, World::dynamoDbStreams,
          java.time.Clock.class, World::clock);

  private final boolean wanted;

  ReplaceOwnBeans(boolean wanted) {
    this.wanted = wanted;
  }

  @Override
  public void postProcessBeanDefinitionRegistry(BeanDefinitionRegistry registry) {
    if (wanted && registry instanceof ConfigurableListableBeanFactory beans) {
      REPLACED.forEach((type, ofWorld) -> replace(type, ofWorld, registry, beans));
    }
  }

  private static void replace(
      Class<?> type,
      Function<World, Object> ofWorld,
      BeanDefinitionRegistry registry,
      ConfigurableListableBeanFactory beans) {
    for (String name : beans.getBeanNamesForType(type, true, false)) {
      if (name.startsWith("mayfly") || !registry.containsBeanDefinition(name)) {
        continue;
      }
      BeanDefinition own = registry.getBeanDefinition(name);
      RootBeanDefinition worlds = new RootBeanDefinition();
      worlds.setTargetType(type);
      worlds.setInstanceSupplier(() -> ofWorld.apply(beans.getBean(World.class)));
      worlds.setPrimary(own.isPrimary());
      worlds.setLazyInit(true);
      worlds.setDestroyMethodName(""); // the world closes its clients
      registry.removeBeanDefinition(name);
      registry.registerBeanDefinition(name, worlds);
    }
  }

  @Override
  public void postProcessBeanFactory(ConfigurableListableBeanFactory beans) {
    // There is nothing to do, because the method above has already changed the bean definitions.
  }
}

package io.github.mayflydynamodb.spring;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.mayflydynamodb.Clock;
import io.github.mayflydynamodb.World;
import io.github.mayflydynamodb.spring.shop.Carts;
import io.github.mayflydynamodb.spring.shop.Shop;
import java.time.Duration;
import java.time.Instant;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import software.amazon.awssdk.enhanced.dynamodb.DynamoDbEnhancedClient;
import software.amazon.awssdk.services.dynamodb.DynamoDbAsyncClient;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.streams.DynamoDbStreamsClient;

@SpringBootTest(classes = Shop.class)
class BeginsAgainTest {
  @Autowired World world;
  @Autowired Carts carts;
  @Autowired java.time.Clock clock;

  @RepeatedTest(3)
  void each_test_begins_with_the_applications_tables_no_items_and_the_original_time() {
    assertEquals(0, carts.count());
    assertTrue(Duration.between(Instant.now(), clock.instant()).abs().toHours() < 1);
    carts.put("1");
    world.clock().advance(Duration.ofHours(24));
  }

  @Test
  void all_beans_use_the_contexts_world(
      @Autowired DynamoDbClient client,
      @Autowired DynamoDbAsyncClient async,
      @Autowired DynamoDbStreamsClient streams,
      @Autowired DynamoDbEnhancedClient enhanced) {
    assertSame(world.dynamoDb(), client);
    assertSame(world.dynamoDbAsync(), async);
    assertSame(world.dynamoDbStreams(), streams);
    assertEquals("carts", async.listTables().join().tableNames().get(0));
    assertEquals(0, streams.listStreams().streams().size());
    assertEquals(world.clock(), clock);
    assertTrue(clock instanceof Clock);
    assertTrue(enhanced != null);
  }
}

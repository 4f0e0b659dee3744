package io.github.mayflydynamodb.spring;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.mayflydynamodb.World;
import io.github.mayflydynamodb.spring.shop.Carts;
import io.github.mayflydynamodb.spring.shop.Shop;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;

/** The example of README.md. */
@SpringBootTest(classes = Shop.class)
class ShopTest {
  @Autowired World world;
  @Autowired Carts carts; // uses the world's DynamoDbClient and java.time.Clock

  @Test
  void a_cart_is_gone_after_two_days() {
    carts.put("1");
    world.clock().advance(Duration.ofHours(47));
    assertTrue(carts.has("1"));
    world.clock().advance(Duration.ofHours(2));
    assertFalse(carts.has("1"));
  }
}

package io.github.mayflydynamodb.junit5;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;

import io.github.mayflydynamodb.World;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;

@MayflyTest(world = WorldPer.CLASS)
class WorldPerClassTest {
  private static World ofAll;

  private final World constructed;

  WorldPerClassTest(World world) {
    constructed = world;
  }

  @BeforeAll
  static void create_carts(World world) {
    ofAll = world;
    Carts.createTable(world.dynamoDb());
  }

  @Test
  void tests_see_tables_created_in_BeforeAll(DynamoDbClient dynamoDb) {
    assertEquals(List.of("carts"), dynamoDb.listTables().tableNames());
  }

  @Test
  void the_constructor_and_the_tests_get_the_same_world(World world) {
    assertSame(ofAll, world);
    assertSame(ofAll, constructed);
  }

  @Nested
  class Nested_classes {
    @Test
    void share_the_world(World world) {
      assertSame(ofAll, world);
    }
  }

  @Test
  @MayflyTest
  void an_annotated_test_has_its_own_world(World world) {
    assertEquals(List.of(), world.dynamoDb().listTables().tableNames());
  }
}

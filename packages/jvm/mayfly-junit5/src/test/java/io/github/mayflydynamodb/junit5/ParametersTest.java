package io.github.mayflydynamodb.junit5;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;

import io.github.mayflydynamodb.Clock;
import io.github.mayflydynamodb.Server;
import io.github.mayflydynamodb.World;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import software.amazon.awssdk.enhanced.dynamodb.DynamoDbEnhancedAsyncClient;
import software.amazon.awssdk.enhanced.dynamodb.DynamoDbEnhancedClient;
import software.amazon.awssdk.services.dynamodb.DynamoDbAsyncClient;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.streams.DynamoDbStreamsClient;

@MayflyTest
class ParametersTest {
  private static final Set<String> ACCOUNTS = ConcurrentHashMap.newKeySet();

  private World before;

  @BeforeEach
  void keep(World world) {
    before = world;
  }

  @Test
  void a_test_and_BeforeEach_get_the_same_world(World world, Clock clock, java.time.Clock given) {
    assertSame(before, world);
    assertSame(clock, given);
    assertEquals(world.clock(), clock);
  }

  @Test
  void all_clients_use_the_tests_world(
      DynamoDbClient client,
      DynamoDbAsyncClient async,
      DynamoDbStreamsClient streams,
      DynamoDbEnhancedClient enhanced,
      DynamoDbEnhancedAsyncClient enhancedAsync,
      Server server) {
    Carts.createTable(client);
    assertSame(before.dynamoDb(), client);
    assertEquals(List.of("carts"), async.listTables().join().tableNames());
    assertEquals("carts", streams.listStreams().streams().get(0).tableName());
    var schema =
        software.amazon.awssdk.enhanced.dynamodb.TableSchema.documentSchemaBuilder()
            .addIndexPartitionKey("$PRIMARY_INDEX", "id", software.amazon.awssdk.enhanced.dynamodb.AttributeValueType.S)
            .attributeConverterProviders(
                software.amazon.awssdk.enhanced.dynamodb.AttributeConverterProvider.defaultProvider())
            .build();
    assertEquals(0, enhanced.table("carts", schema).scan().items().stream().count());
    assertEquals("carts", enhancedAsync.table("carts", schema).describeTable().join().table().tableName());
    assertSame(before.server(), server);
  }

  @RepeatedTest(8)
  void each_test_has_its_own_world(World world) {
    assertEquals(true, ACCOUNTS.add(world.account()));
    assertEquals(List.of(), world.dynamoDb().listTables().tableNames());
    Carts.createTable(world.dynamoDb());
  }

  @ParameterizedTest
  @ValueSource(strings = {"a", "b"})
  void a_test_can_also_have_parameters_of_other_extensions(String text, World world) {
    assertEquals(1, text.length());
    assertSame(before, world);
  }

  @Nested
  class In_a_nested_class {
    @Test
    void a_test_has_its_own_world(World world) {
      assertSame(before, world);
      assertNotEquals(0, world.account().charAt(0) - '0');
    }
  }
}

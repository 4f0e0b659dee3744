package io.github.mayflydynamodb;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.core.SdkBytes;
import software.amazon.awssdk.enhanced.dynamodb.mapper.annotations.DynamoDbBean;
import software.amazon.awssdk.enhanced.dynamodb.mapper.annotations.DynamoDbPartitionKey;
import software.amazon.awssdk.enhanced.dynamodb.TableSchema;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

class WorldTest extends Fixture {
  @Test
  void worlds_are_isolated_accounts_with_twelve_digit_ids() {
    assertTrue(world.account().matches("[1-9]\\d{11}"), world.account());
    createCarts();
    try (World other = SERVER.world()) {
      assertNotEquals(world.account(), other.account());
      assertEquals(List.of(), other.dynamoDb().listTables().tableNames());
      assertEquals(List.of("carts"), world.dynamoDb().listTables().tableNames());
    }
  }

  @Test
  void clients_use_the_world_and_each_client_is_created_only_once() {
    createCarts();
    assertSame(world.dynamoDb(), world.dynamoDb());
    assertEquals(List.of("carts"), world.dynamoDbAsync().listTables().join().tableNames());
    assertEquals("carts", world.dynamoDbStreams().listStreams().streams().get(0).tableName());
  }

  @Test
  void enhanced_clients_use_the_world() {
    createCarts();
    putCart("1", START.plusSeconds(60));
    var carts = EnhancedClients.of(world).table("carts", TableSchema.fromBean(Cart.class));
    assertEquals("1", carts.scan().items().stream().findFirst().orElseThrow().getId());
    var later = EnhancedClients.asyncOf(world).table("carts", TableSchema.fromBean(Cart.class));
    assertEquals("1", later.getItem(key -> key.key(id -> id.partitionValue("1"))).join().getId());
  }

  /** A bean for the enhanced clients. */
  @DynamoDbBean
  public static class Cart {
    private String id;

    @DynamoDbPartitionKey
    public String getId() {
      return id;
    }

    public void setId(String id) {
      this.id = id;
    }
  }

  @Test
  void closing_a_world_empties_its_account() {
    try (World sameAccount = SERVER.world(world.account(), "us-east-1")) {
      createCarts();
      world.close();
      assertEquals(List.of(), sameAccount.dynamoDb().listTables().tableNames());
    }
  }

  @Test
  void the_environment_has_the_worlds_endpoint_region_and_account() {
    assertEquals(
        Map.of(
            "AWS_ENDPOINT_URL_DYNAMODB", SERVER.url().toString(),
            "AWS_ENDPOINT_URL_DYNAMODB_STREAMS", SERVER.url().toString(),
            "AWS_ACCESS_KEY_ID", world.account(),
            "AWS_SECRET_ACCESS_KEY", "mayfly",
            "AWS_DEFAULT_REGION", "us-east-1",
            "AWS_REGION", "us-east-1",
            "MAYFLY_URL", SERVER.url().toString(),
            "MAYFLY_ACCOUNT", world.account()),
        world.environment());
  }

  @Test
  void an_account_id_without_twelve_digits_is_rejected() {
    IllegalArgumentException refused =
        assertThrows(IllegalArgumentException.class, () -> SERVER.world("42", "us-east-1"));
    assertEquals("An account must have twelve digits, got 42.", refused.getMessage());
  }

  @Test
  void a_snapshot_restores_the_worlds_items_and_clock() {
    createCarts();
    putCart("1", START.plusSeconds(3600));
    Snapshot snapshot = world.snapshot();
    clock.advance(Duration.ofHours(2));
    assertFalse(hasCart("1"));

    assertEquals(START, snapshot.restore());
    assertTrue(hasCart("1"));
    clock.advance(Duration.ofHours(2));
    world.restore(snapshot.id());
    assertTrue(hasCart("1"));

    snapshot.delete();
    assertEquals(404, assertThrows(ControlException.class, snapshot::restore).httpStatus());
  }

  @Test
  void a_reset_deletes_tables() {
    createCarts();
    world.reset();
    assertEquals(List.of(), world.dynamoDb().listTables().tableNames());
  }

  @Test
  void control_can_make_any_call_to_the_control_api_for_its_world() {
    createCarts();
    Map<String, Object> shards = world.control("POST", "/streams/carts/split", Map.of());
    assertEquals(3, ((List<?>) shards.get("shards")).size());
    assertEquals(Map.of("jobs", List.of()), world.control("GET", "/jobs", null));
  }

  @Test
  void a_control_exception_has_a_type_a_message_and_a_status() {
    ControlException refused = assertThrows(ControlException.class, () -> world.ttl("carts").status());
    assertEquals(404, refused.httpStatus());
    assertEquals(
        "There is no table 'carts' in account " + world.account() + ", region us-east-1.", refused.getMessage());
    assertEquals("NotFound", refused.type());
  }

  @Test
  void keys_can_be_plain_values_SDK_values_or_DynamoDB_JSON() {
    assertEquals(Map.of("id", Map.of("S", "1")), Keys.toJson(Map.of("id", "1")));
    assertEquals(Map.of("id", Map.of("N", "17")), Keys.toJson(Map.of("id", 17L)));
    assertEquals(
        Map.of("id", Map.of("N", "100")), Keys.toJson(Map.of("id", new java.math.BigDecimal("1E+2"))));
    assertEquals(Map.of("id", Map.of("B", "AQI=")), Keys.toJson(Map.of("id", new byte[] {1, 2})));
    assertEquals(
        Map.of("id", Map.of("B", "AQI=")), Keys.toJson(Map.of("id", java.nio.ByteBuffer.wrap(new byte[] {1, 2}))));
    assertEquals(
        Map.of("id", Map.of("B", "AQI=")), Keys.toJson(Map.of("id", SdkBytes.fromByteArray(new byte[] {1, 2}))));
    assertEquals(
        Map.of("a", Map.of("S", "1"), "b", Map.of("N", "2")),
        Keys.toJson(Map.of("a", AttributeValue.fromS("1"), "b", AttributeValue.fromN("2"))));
    assertEquals(Map.of("id", Map.of("S", "1")), Keys.toJson(Map.of("id", Map.of("S", "1"))));
    IllegalArgumentException refused =
        assertThrows(IllegalArgumentException.class, () -> Keys.toJson(Map.of("id", true)));
    assertEquals("The key attribute id must be a string, a number or bytes, got true.", refused.getMessage());
  }
}

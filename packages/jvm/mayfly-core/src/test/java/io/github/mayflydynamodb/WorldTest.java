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
  void each_world_is_an_account_of_its_own() {
    assertTrue(world.account().matches("[1-9]\\d{11}"), world.account());
    createCarts();
    try (World other = SERVER.world()) {
      assertNotEquals(world.account(), other.account());
      assertEquals(List.of(), other.dynamoDb().listTables().tableNames());
      assertEquals(List.of("carts"), world.dynamoDb().listTables().tableNames());
    }
  }

  @Test
  void its_clients_are_ready_and_the_same_each_time() {
    createCarts();
    assertSame(world.dynamoDb(), world.dynamoDb());
    assertEquals(List.of("carts"), world.dynamoDbAsync().listTables().join().tableNames());
    assertEquals("carts", world.dynamoDbStreams().listStreams().streams().get(0).tableName());
  }

  @Test
  void the_enhanced_clients_are_on_it_too() {
    createCarts();
    putCart("1", START.plusSeconds(60));
    var carts = EnhancedClients.of(world).table("carts", TableSchema.fromBean(Cart.class));
    assertEquals("1", carts.scan().items().stream().findFirst().orElseThrow().getId());
    var later = EnhancedClients.asyncOf(world).table("carts", TableSchema.fromBean(Cart.class));
    assertEquals("1", later.getItem(key -> key.key(id -> id.partitionValue("1"))).join().getId());
  }

  /** What the enhanced client needs. */
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
  void a_closed_world_is_empty() {
    try (World sameAccount = SERVER.world(world.account(), "us-east-1")) {
      createCarts();
      world.close();
      assertEquals(List.of(), sameAccount.dynamoDb().listTables().tableNames());
    }
  }

  @Test
  void the_environment_leads_a_child_process_here() {
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
  void an_account_is_twelve_digits() {
    IllegalArgumentException refused =
        assertThrows(IllegalArgumentException.class, () -> SERVER.world("42", "us-east-1"));
    assertEquals("an account is twelve digits, not 42.", refused.getMessage());
  }

  @Test
  void a_snapshot_brings_back_items_and_time() {
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
  void a_reset_leaves_nothing() {
    createCarts();
    world.reset();
    assertEquals(List.of(), world.dynamoDb().listTables().tableNames());
  }

  @Test
  void any_other_call_of_the_control_api_can_be_made() {
    createCarts();
    Map<String, Object> shards = world.control("POST", "/streams/carts/split", Map.of());
    assertEquals(3, ((List<?>) shards.get("shards")).size());
    assertEquals(Map.of("jobs", List.of()), world.control("GET", "/jobs", null));
  }

  @Test
  void what_the_server_refuses_has_its_type_its_sentence_and_its_status() {
    ControlException refused = assertThrows(ControlException.class, () -> world.ttl("carts").status());
    assertEquals(404, refused.httpStatus());
    assertEquals(
        "There is no table 'carts' in account " + world.account() + ", region us-east-1.", refused.getMessage());
    assertEquals("NotFound", refused.type());
  }

  @Test
  void keys_may_be_plain_values_or_the_SDKs_or_DynamoDB_JSON() {
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
    assertEquals("a key's attribute is a string, a number or bytes, and id is true.", refused.getMessage());
  }
}

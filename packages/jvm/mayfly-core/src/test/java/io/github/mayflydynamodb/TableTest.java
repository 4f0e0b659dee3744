package io.github.mayflydynamodb;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static software.amazon.awssdk.services.dynamodb.model.ScalarAttributeType.N;
import static software.amazon.awssdk.services.dynamodb.model.ScalarAttributeType.S;

import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.services.dynamodb.model.AttributeDefinition;
import software.amazon.awssdk.services.dynamodb.model.BillingMode;
import software.amazon.awssdk.services.dynamodb.model.KeySchemaElement;
import software.amazon.awssdk.services.dynamodb.model.KeyType;
import software.amazon.awssdk.services.dynamodb.model.Projection;
import software.amazon.awssdk.services.dynamodb.model.ProjectionType;
import software.amazon.awssdk.services.dynamodb.model.StreamViewType;
import software.amazon.awssdk.services.dynamodb.model.TableClass;
import software.amazon.awssdk.services.dynamodb.model.TableDescription;

class TableTest extends Fixture {
  @Test
  void a_table_has_the_string_key_id_and_a_stream_by_default() {
    TableDescription table = world.createTable(Table.named("carts"));
    assertEquals("carts", table.tableName());
    assertEquals(List.of(element("id", KeyType.HASH)), table.keySchema());
    assertEquals(List.of(definition("id", S)), table.attributeDefinitions());
    assertEquals(StreamViewType.NEW_AND_OLD_IMAGES, table.streamSpecification().streamViewType());
    assertEquals(BillingMode.PAY_PER_REQUEST, table.billingModeSummary().billingMode());
    assertFalse(table.hasGlobalSecondaryIndexes());
  }

  @Test
  void a_table_has_the_requested_keys_ttl_stream_and_indexes() {
    TableDescription table =
        world.createTable(
            Table.named("orders")
                .key("customer")
                .sort("at", N)
                .ttl("expires")
                .stream(StreamViewType.KEYS_ONLY)
                .index(Index.named("by_state").key("state").sort("at", N))
                .index(Index.named("by_item").key("item").projection(ProjectionType.KEYS_ONLY))
                .index(Index.named("by_total").local().sort("total", N).projection("note", "state")));
    assertEquals(List.of(element("customer", KeyType.HASH), element("at", KeyType.RANGE)), table.keySchema());
    assertEquals(
        Map.of("customer", S, "at", N, "state", S, "item", S, "total", N),
        table.attributeDefinitions().stream()
            .collect(Collectors.toMap(AttributeDefinition::attributeName, AttributeDefinition::attributeType)));
    assertEquals(StreamViewType.KEYS_ONLY, table.streamSpecification().streamViewType());
    Map<String, List<Object>> indexes =
        Stream.concat(
                table.globalSecondaryIndexes().stream()
                    .map(index -> Map.entry(index.indexName(), List.<Object>of(index.keySchema(), index.projection()))),
                table.localSecondaryIndexes().stream()
                    .map(index -> Map.entry(index.indexName(), List.<Object>of(index.keySchema(), index.projection()))))
            .collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue));
    assertEquals(
        Map.of(
            "by_state",
            List.of(
                List.of(element("state", KeyType.HASH), element("at", KeyType.RANGE)), projection(ProjectionType.ALL)),
            "by_item",
            List.of(List.of(element("item", KeyType.HASH)), projection(ProjectionType.KEYS_ONLY)),
            "by_total",
            List.of(
                List.of(element("customer", KeyType.HASH), element("total", KeyType.RANGE)),
                projection(ProjectionType.INCLUDE, "note", "state"))),
        indexes);
    TtlStatus ttl = world.ttl("orders").status();
    assertEquals("expires", ttl.attribute().orElseThrow());
  }

  @Test
  void a_table_can_have_no_stream() {
    assertNull(world.createTable(Table.named("carts").stream(false)).streamSpecification());
  }

  @Test
  void other_members_of_CreateTable_can_be_set() {
    TableDescription table =
        world.createTable(
            Table.named("carts")
                .more(request -> request.tableClass(TableClass.STANDARD_INFREQUENT_ACCESS))
                .more(request -> request.deletionProtectionEnabled(false)));
    assertEquals(TableClass.STANDARD_INFREQUENT_ACCESS, table.tableClassSummary().tableClass());
    assertFalse(table.deletionProtectionEnabled());
  }

  @Test
  void an_empty_TTL_attribute_is_rejected() {
    assertEquals(
        "ttl() of the table carts needs the name of an attribute.",
        assertThrows(IllegalArgumentException.class, () -> Table.named("carts").ttl("")).getMessage());
  }

  @Test
  void an_invalid_table_is_rejected_before_any_request() {
    Map<Table, String> refused =
        Map.of(
            Table.named("carts").sort("at", N).index(Index.named("by_at").key("at")),
            "The attribute at of table carts has type N in the table and S in the index by_at: give it the same type in"
                + " both.",
            Table.named("carts").index(Index.named("by_at")),
            "The global index by_at needs a partition key: call key(), or local() for a local index.",
            Table.named("carts").index(Index.named("by_at").local().key("at").sort("at")),
            "The local index by_at has the table's partition key: remove key(), or local().",
            Table.named("carts").index(Index.named("by_at").local()),
            "The local index by_at needs a sort key: call sort().");
    refused.forEach(
        (table, message) ->
            assertEquals(
                message,
                assertThrows(IllegalArgumentException.class, () -> world.createTable(table)).getMessage()));
    assertEquals(List.of(), world.dynamoDb().listTables().tableNames());
  }

  private static KeySchemaElement element(String name, KeyType type) {
    return KeySchemaElement.builder().attributeName(name).keyType(type).build();
  }

  private static AttributeDefinition definition(
      String name, software.amazon.awssdk.services.dynamodb.model.ScalarAttributeType type) {
    return AttributeDefinition.builder().attributeName(name).attributeType(type).build();
  }

  private static Projection projection(ProjectionType type, String... attributes) {
    Projection.Builder projection = Projection.builder().projectionType(type);
    return (attributes.length == 0 ? projection : projection.nonKeyAttributes(attributes)).build();
  }
}

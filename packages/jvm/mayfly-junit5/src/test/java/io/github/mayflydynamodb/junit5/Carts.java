package io.github.mayflydynamodb.junit5;

import java.time.Clock;
import java.time.Duration;
import java.util.Map;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/** An example of a user's program. It stores carts that expire after two days, and gets the time from its clock. */
record Carts(DynamoDbClient dynamoDb, Clock clock) {
  static void createTable(DynamoDbClient dynamoDb) {
    dynamoDb.createTable(
        table ->
            table
                .tableName("carts")
                .billingMode("PAY_PER_REQUEST")
                .attributeDefinitions(id -> id.attributeName("id").attributeType("S"))
                .keySchema(id -> id.attributeName("id").keyType("HASH"))
                .streamSpecification(stream -> stream.streamEnabled(true).streamViewType("NEW_AND_OLD_IMAGES")));
    dynamoDb.updateTimeToLive(
        request -> request.tableName("carts").timeToLiveSpecification(ttl -> ttl.enabled(true).attributeName("ttl")));
  }

  void put(String id) {
    long ttl = clock.instant().plus(Duration.ofHours(48)).getEpochSecond();
    dynamoDb.putItem(
        put ->
            put.tableName("carts")
                .item(
                    Map.of("id", AttributeValue.fromS(id), "ttl", AttributeValue.fromN(Long.toString(ttl)))));
  }

  boolean has(String id) {
    return dynamoDb.getItem(get -> get.tableName("carts").key(Map.of("id", AttributeValue.fromS(id)))).hasItem();
  }
}

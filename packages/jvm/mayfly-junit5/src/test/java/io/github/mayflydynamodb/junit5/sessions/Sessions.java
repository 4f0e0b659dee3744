package io.github.mayflydynamodb.junit5.sessions;

import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import software.amazon.awssdk.services.dynamodb.DynamoDbClient;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/** Sessions that end 30 minutes after their last use. */
record Sessions(DynamoDbClient dynamoDb, Clock clock) {
  private static final Duration LIFETIME = Duration.ofMinutes(30);

  void start(String id, String... cart) {
    List<AttributeValue> things = Stream.of(cart).map(AttributeValue::fromS).toList();
    Map<String, AttributeValue> item =
        Map.of(
            "id", AttributeValue.fromS(id),
            "cart", AttributeValue.fromL(things),
            "expires", seconds(clock.instant().plus(LIFETIME)));
    dynamoDb.putItem(put -> put.tableName("sessions").item(item));
  }

  void renew(String id) {
    Instant now = clock.instant();
    dynamoDb.updateItem(
        update ->
            update
                .tableName("sessions")
                .key(key(id))
                .updateExpression("SET expires = :expires")
                .conditionExpression("expires > :now")
                .expressionAttributeValues(Map.of(":expires", seconds(now.plus(LIFETIME)), ":now", seconds(now))));
  }

  void end(String id) {
    dynamoDb.deleteItem(delete -> delete.tableName("sessions").key(key(id)));
  }

  boolean isOpen(String id) {
    var found = dynamoDb.getItem(get -> get.tableName("sessions").key(key(id)));
    return found.hasItem() && Long.parseLong(found.item().get("expires").n()) > clock.instant().getEpochSecond();
  }

  private static Map<String, AttributeValue> key(String id) {
    return Map.of("id", AttributeValue.fromS(id));
  }

  private static AttributeValue seconds(Instant instant) {
    return AttributeValue.fromN(Long.toString(instant.getEpochSecond()));
  }
}

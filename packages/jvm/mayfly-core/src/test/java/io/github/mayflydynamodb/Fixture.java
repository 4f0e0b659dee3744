package io.github.mayflydynamodb;

import java.nio.file.Path;
import java.time.Instant;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;
import software.amazon.awssdk.services.dynamodb.model.BillingMode;
import software.amazon.awssdk.services.dynamodb.model.KeyType;
import software.amazon.awssdk.services.dynamodb.model.ScalarAttributeType;
import software.amazon.awssdk.services.dynamodb.model.StreamViewType;

/** A world for the test, on a server for all of them, with a table of carts when it is asked for. */
abstract class Fixture {
  static final Instant START = Instant.parse("2031-01-01T00:00:00Z");
  static final Path BINARY = Path.of(System.getProperty("mayfly.test.binary"));
  static final Server SERVER = Server.start(ServerOptions.defaults().binary(BINARY));

  final World world = SERVER.world();
  final Clock clock = world.clock();

  @AfterEach
  void closeWorld() {
    world.close();
  }

  /** Carts by id, which expire by their ttl; the clock stands at START. */
  void createCarts() {
    clock.freeze(START);
    createCarts(true);
  }

  void createCarts(boolean stream) {
    world
        .dynamoDb()
        .createTable(
            table -> {
              table
                  .tableName("carts")
                  .billingMode(BillingMode.PAY_PER_REQUEST)
                  .attributeDefinitions(id -> id.attributeName("id").attributeType(ScalarAttributeType.S))
                  .keySchema(id -> id.attributeName("id").keyType(KeyType.HASH));
              if (stream) {
                table.streamSpecification(
                    images -> images.streamEnabled(true).streamViewType(StreamViewType.NEW_AND_OLD_IMAGES));
              }
            });
    world
        .dynamoDb()
        .updateTimeToLive(
            request -> request.tableName("carts").timeToLiveSpecification(ttl -> ttl.enabled(true).attributeName("ttl")));
  }

  void putCart(String id, Instant expires) {
    world
        .dynamoDb()
        .putItem(
            put ->
                put.tableName("carts")
                    .item(
                        Map.of(
                            "id", AttributeValue.fromS(id),
                            "ttl", AttributeValue.fromN(Long.toString(expires.getEpochSecond())))));
  }

  boolean hasCart(String id) {
    return world
        .dynamoDb()
        .getItem(get -> get.tableName("carts").key(Map.of("id", AttributeValue.fromS(id))))
        .hasItem();
  }
}

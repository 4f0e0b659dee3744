package io.github.mayflydynamodb;

import java.nio.file.Path;
import java.time.Instant;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/** Gives each test a world, on a server that all tests share. */
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

  /** Freezes the clock at START and creates the table carts, with the key id and the TTL attribute ttl. */
  void createCarts() {
    clock.freeze(START);
    createCarts(true);
  }

  void createCarts(boolean stream) {
    world.createTable(Table.named("carts").ttl("ttl").stream(stream));
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

package io.github.mayflydynamodb;

import java.nio.file.Path;
import java.time.Instant;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

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

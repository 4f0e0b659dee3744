package io.github.mayflydynamodb.junit5;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;

import io.github.mayflydynamodb.Server;
import io.github.mayflydynamodb.ServerOptions;
import io.github.mayflydynamodb.World;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

class RegisteredExtensionTest {
  @RegisterExtension
  static final MayflyExtension MAYFLY =
      MayflyExtension.of(ServerOptions.defaults().arguments("--stream-shards", "4")).worldPer(WorldPer.CLASS);

  @BeforeAll
  static void create_carts(World world) {
    Carts.createTable(world.dynamoDb());
  }

  @Test
  void an_extension_with_options_starts_a_separate_server(World world, Server server) {
    var shards = (List<?>) world.control("GET", "/streams/carts/shards", null).get("shards");
    assertEquals(4, shards.size());
    assertSame(world.server(), server);
  }
}

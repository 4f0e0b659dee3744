package consumer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.mayflydynamodb.Clock;
import io.github.mayflydynamodb.Table;
import io.github.mayflydynamodb.World;
import io.github.mayflydynamodb.junit5.MayflyTest;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

@MayflyTest
class CartTest {
  @Test
  void a_cart_is_deleted_when_its_TTL_has_passed(World world, Clock clock) {
    world.createTable(Table.named("carts").ttl("ttl"));
    String ttl = Long.toString(clock.instant().plusSeconds(3600).getEpochSecond());
    world
        .dynamoDb()
        .putItem(
            put ->
                put.tableName("carts")
                    .item(Map.of("id", AttributeValue.fromS("1"), "ttl", AttributeValue.fromN(ttl))));
    assertEquals(Map.of("carts", 1L), clock.advance(Duration.ofHours(2)).tables());
  }

  @Test
  void the_server_runs_the_program_from_the_jar(World world) throws Exception {
    Path cache = Path.of(System.getenv("XDG_CACHE_HOME"));
    try (var files = Files.walk(cache)) {
      assertTrue(files.anyMatch(file -> file.getFileName().toString().startsWith("mayfly") && Files.isRegularFile(file)));
    }
    String program =
        ProcessHandle.of(world.server().pid().orElseThrow()).orElseThrow().info().command().orElseThrow();
    assertTrue(Path.of(program).startsWith(cache.toRealPath()), program);
  }
}

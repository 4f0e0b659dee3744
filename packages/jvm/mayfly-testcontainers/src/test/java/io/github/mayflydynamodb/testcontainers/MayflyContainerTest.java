package io.github.mayflydynamodb.testcontainers;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.github.mayflydynamodb.Server;
import io.github.mayflydynamodb.World;
import java.net.URI;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.testcontainers.containers.wait.strategy.HttpWaitStrategy;
import org.testcontainers.containers.wait.strategy.WaitStrategy;
import org.testcontainers.utility.DockerImageName;

/** What the container is told. That needs no engine. */
class MayflyContainerTest {
  /** Shows what a GenericContainer keeps to itself, and says where it would have been started. */
  private static final class Shown extends MayflyContainer {
    WaitStrategy strategy() {
      return getWaitStrategy();
    }

    @Override
    public String getHost() {
      return "localhost";
    }

    @Override
    public Integer getMappedPort(int port) {
      return 40_000 + port;
    }
  }

  @Test
  void the_image_is_the_one_of_the_packages_version() {
    try (MayflyContainer container = new MayflyContainer()) {
      assertEquals("mayfly:" + Server.packageVersion(), image(container));
    }
  }

  @Test
  void port_8000_is_exposed_and_accounts_are_plenty() {
    try (MayflyContainer container = new MayflyContainer("mayfly:1")) {
      assertEquals(List.of(8000), container.getExposedPorts());
      assertEquals("1000000", container.getEnvMap().get("MAYFLY_ACCOUNTS_MAX"));
    }
  }

  @Test
  void it_is_ready_when_its_health_says_so() throws ReflectiveOperationException {
    try (Shown container = new Shown()) {
      HttpWaitStrategy strategy = assertInstanceOf(HttpWaitStrategy.class, container.strategy());
      assertEquals("/_mayfly/health", field(strategy, "path"));
      assertEquals("Optional[8000]", field(strategy, "livenessPort").toString());
    }
  }

  @Test
  void its_url_has_the_host_and_the_port_of_this_machine() {
    try (Shown container = new Shown()) {
      assertEquals(URI.create("http://localhost:48000"), container.url());
    }
  }

  @Test
  void an_image_of_another_name_must_say_that_it_is_a_mayfly() {
    assertThrows(IllegalStateException.class, () -> new MayflyContainer("dynamodb-local:2"));
    try (MayflyContainer container =
        new MayflyContainer(DockerImageName.parse("team/mayfly:1").asCompatibleSubstituteFor("mayfly"))) {
      assertEquals("team/mayfly:1", image(container));
    }
  }

  /** The README's example: compiled, but not run, for it wants an engine. */
  static void readme() {
    try (MayflyContainer container = new MayflyContainer()) {
      container.start();
      World world = container.server().world();
      Carts.createTable(world.dynamoDb());
    }
  }

  /** Not getDockerImageName(), which would fetch it. */
  private static String image(MayflyContainer container) {
    return container.getImage().toString().replaceAll(".*imageName=([^,]*),.*", "$1");
  }

  private static Object field(Object of, String name) throws ReflectiveOperationException {
    var field = HttpWaitStrategy.class.getDeclaredField(name);
    field.setAccessible(true);
    return field.get(of);
  }
}

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

/** Tests the container's settings. The tests need no container engine. */
class MayflyContainerTest {
  /** Exposes protected members of GenericContainer, and returns a fake address. */
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
  void the_default_image_has_the_packages_version() {
    try (MayflyContainer container = new MayflyContainer()) {
      assertEquals("mayfly:" + Server.packageVersion(), image(container));
    }
  }

  @Test
  void a_container_exposes_port_8000_and_allows_a_million_accounts() {
    try (MayflyContainer container = new MayflyContainer("mayfly:1")) {
      assertEquals(List.of(8000), container.getExposedPorts());
      assertEquals("1000000", container.getEnvMap().get("MAYFLY_ACCOUNTS_MAX"));
    }
  }

  @Test
  void the_container_is_ready_when_the_health_check_succeeds() throws ReflectiveOperationException {
    try (Shown container = new Shown()) {
      HttpWaitStrategy strategy = assertInstanceOf(HttpWaitStrategy.class, container.strategy());
      assertEquals("/_mayfly/health", field(strategy, "path"));
      assertEquals("Optional[8000]", field(strategy, "livenessPort").toString());
    }
  }

  @Test
  void a_containers_URL_has_the_host_and_the_mapped_port() {
    try (Shown container = new Shown()) {
      assertEquals(URI.create("http://localhost:48000"), container.url());
    }
  }

  @Test
  void an_image_with_another_name_must_be_declared_compatible() {
    assertThrows(IllegalStateException.class, () -> new MayflyContainer("dynamodb-local:2"));
    try (MayflyContainer container =
        new MayflyContainer(DockerImageName.parse("team/mayfly:1").asCompatibleSubstituteFor("mayfly"))) {
      assertEquals("team/mayfly:1", image(container));
    }
  }

  /** The example of README.md. It is compiled but not run, because it needs a container engine. */
  static void readme() {
    try (MayflyContainer container = new MayflyContainer()) {
      container.start();
      World world = container.server().world();
      Carts.createTable(world.dynamoDb());
    }
  }

  /** Returns the image's name. This method does not call getDockerImageName(), because that would fetch the image. */
  private static String image(MayflyContainer container) {
    return container.getImage().toString().replaceAll(".*imageName=([^,]*),.*", "$1");
  }

  private static Object field(Object of, String name) throws ReflectiveOperationException {
    var field = HttpWaitStrategy.class.getDeclaredField(name);
    field.setAccessible(true);
    return field.get(of);
  }
}

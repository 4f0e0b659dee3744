package io.github.mayflydynamodb.testcontainers;

import io.github.mayflydynamodb.Server;
import io.github.mayflydynamodb.ServerOptions;
import java.net.URI;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.containers.wait.strategy.Wait;
import org.testcontainers.utility.DockerImageName;

/**
 * A container that runs Mayfly's image. The container is ready when the server's health check succeeds.
 *
 * <pre>{@code
 * try (MayflyContainer container = new MayflyContainer()) {
 *   container.start();
 *   World world = container.server().world();
 * }
 * }</pre>
 */
public class MayflyContainer extends GenericContainer<MayflyContainer> {
  /** The port on which the server listens in the container. */
  public static final int PORT = 8000;

  private static final DockerImageName IMAGE = DockerImageName.parse("mayfly");

  private Server server;

  /** Creates a container from the image {@code mayfly} whose tag is this package's version. */
  public MayflyContainer() {
    this(IMAGE.withTag(Server.packageVersion()));
  }

  /** Creates a container from the image with this name. */
  public MayflyContainer(String image) {
    this(DockerImageName.parse(image));
  }

  /**
   * Creates a container from the image with this name.
   *
   * @param image the image; if its name is not {@code mayfly}, declare {@code asCompatibleSubstituteFor("mayfly")}
   */
  public MayflyContainer(DockerImageName image) {
    super(image);
    image.assertCompatibleWith(IMAGE);
    withExposedPorts(PORT);
    // Each test needs an account for its world, so raise the server's default limit on accounts.
    withEnv("MAYFLY_ACCOUNTS_MAX", "1000000");
    waitingFor(Wait.forHttp("/_mayfly/health").forPort(PORT).forStatusCode(200));
  }

  /** Returns the server's URL on this machine. Requires: the container is started. */
  public URI url() {
    return URI.create("http://" + getHost() + ":" + getMappedPort(PORT));
  }

  /** Returns the server in the container, for example to create worlds. Requires: the container is started. */
  public synchronized Server server() {
    if (server == null) {
      server = Server.start(ServerOptions.defaults().url(url()));
    }
    return server;
  }

  @Override
  public synchronized void stop() {
    if (server != null) {
      server.close();
      server = null;
    }
    super.stop();
  }
}

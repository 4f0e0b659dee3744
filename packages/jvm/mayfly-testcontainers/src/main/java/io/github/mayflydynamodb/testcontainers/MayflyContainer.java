package io.github.mayflydynamodb.testcontainers;

import io.github.mayflydynamodb.Server;
import io.github.mayflydynamodb.ServerOptions;
import java.net.URI;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.containers.wait.strategy.Wait;
import org.testcontainers.utility.DockerImageName;

/**
 * Mayfly's image, ready when its health says so.
 *
 * <pre>{@code
 * try (MayflyContainer container = new MayflyContainer()) {
 *   container.start();
 *   World world = container.server().world();
 * }
 * }</pre>
 */
public class MayflyContainer extends GenericContainer<MayflyContainer> {
  /** Where the server listens in the container. */
  public static final int PORT = 8000;

  private static final DockerImageName IMAGE = DockerImageName.parse("mayfly");

  private Server server;

  /** The image {@code mayfly} of this package's version. */
  public MayflyContainer() {
    this(IMAGE.withTag(Server.packageVersion()));
  }

  public MayflyContainer(String image) {
    this(DockerImageName.parse(image));
  }

  /**
   * @param image of another name only if it says {@code asCompatibleSubstituteFor("mayfly")}
   */
  public MayflyContainer(DockerImageName image) {
    super(image);
    image.assertCompatibleWith(IMAGE);
    withExposedPorts(PORT);
    // A world for each test: more than a server that is not for tests would let there be.
    withEnv("MAYFLY_ACCOUNTS_MAX", "1000000");
    waitingFor(Wait.forHttp("/_mayfly/health").forPort(PORT).forStatusCode(200));
  }

  /** Where the container listens on this machine. Requires: it was started. */
  public URI url() {
    return URI.create("http://" + getHost() + ":" + getMappedPort(PORT));
  }

  /** The server in the container, which gives worlds. Requires: it was started. */
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

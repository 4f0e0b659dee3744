package io.github.mayflydynamodb.junit5;

import io.github.mayflydynamodb.MayflyException;
import io.github.mayflydynamodb.Server;
import io.github.mayflydynamodb.ServerOptions;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * A server in the root store, which JUnit closes after the last test. If the server dies, a new one is started. If a
 * start fails, it is not retried.
 */
@SuppressWarnings("deprecation") // JUnit before 5.13 closes only CloseableResources.
final class KeptServer implements ExtensionContext.Store.CloseableResource, AutoCloseable {
  private final ServerOptions options;
  private Server server;
  private MayflyException failure;

  KeptServer(ServerOptions options) {
    this.options = options;
    start();
  }

  private void start() {
    try {
      server = Server.start(options);
    } catch (MayflyException failed) {
      failure = failed;
    }
  }

  /**
   * Returns the server, or a new one if it has died.
   *
   * @throws MayflyException if the start failed, now or earlier
   */
  synchronized Server server() {
    if (failure == null && server.hasDied()) {
      server.close();
      start();
    }
    if (failure != null) {
      throw new MayflyException(failure.getMessage(), failure);
    }
    return server;
  }

  @Override
  public synchronized void close() {
    if (server != null) {
      server.close();
    }
  }
}

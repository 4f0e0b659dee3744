package io.github.mayflydynamodb.junit5;

import io.github.mayflydynamodb.MayflyException;
import io.github.mayflydynamodb.Server;
import io.github.mayflydynamodb.ServerOptions;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * A server in the store of JUnit's root context. JUnit closes that store, and so the server, after the last test. If
 * the server dies, a new one is started. A start that fails is not retried.
 */
@SuppressWarnings("deprecation") // JUnit versions before 5.13 close only CloseableResources.
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
   * Returns the server. If it has died, starts a new one and returns the new one.
   *
   * @throws MayflyException if a server could not be started, now or earlier
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

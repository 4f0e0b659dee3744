package io.github.mayflydynamodb.junit5;

import io.github.mayflydynamodb.MayflyException;
import io.github.mayflydynamodb.Server;
import io.github.mayflydynamodb.ServerOptions;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * A server in the root store: JUnit closes it after the last test. If it dies, another one is started. A server that did
 * not start is not tried again.
 */
@SuppressWarnings("deprecation") // JUnit before 5.13 closes nothing else.
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

  /** The server, or another one if it has died. */
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

package io.github.mayflydynamodb.spring;

import io.github.mayflydynamodb.Server;
import io.github.mayflydynamodb.ServerOptions;
import java.util.HashMap;
import java.util.Map;

/**
 * Keeps one server for all contexts in the JVM that have the same options. The server exits when the JVM exits, because
 * Spring keeps its contexts until then. A server that has died is replaced when the next context is created.
 */
final class SharedServers {
  private static final Map<ServerOptions, Server> SERVERS = new HashMap<>();

  private SharedServers() {}

  static synchronized Server get(ServerOptions options) {
    Server running = SERVERS.get(options);
    if (running == null || running.hasDied()) {
      running = Server.start(options);
      Runtime.getRuntime().addShutdownHook(new Thread(running::close, "mayfly ends"));
      SERVERS.put(options, running);
    }
    return running;
  }
}

package io.github.mayflydynamodb.spring;

import io.github.mayflydynamodb.Server;
import io.github.mayflydynamodb.ServerOptions;
import java.util.HashMap;
import java.util.Map;

/**
 * One server for all contexts of the JVM that want the same. Spring keeps contexts until the JVM ends, and so does this
 * its servers.
 */
final class SharedServers {
  private static final Map<ServerOptions, Server> SERVERS = new HashMap<>();

  private SharedServers() {}

  static synchronized Server get(ServerOptions options) {
    Server running = SERVERS.get(options);
    if (running == null) {
      running = Server.start(options);
      Runtime.getRuntime().addShutdownHook(new Thread(running::close, "mayfly ends"));
      SERVERS.put(options, running);
    }
    return running;
  }
}

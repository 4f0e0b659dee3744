package io.github.mayflydynamodb.junit5;

import io.github.mayflydynamodb.Server;
import io.github.mayflydynamodb.World;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.extension.ExtensionContext;

/** Of a test that fails, shows what the server logged since it began; tests beside it may be in there, too. */
final class FailureLog {
  private record Begin(Server server, long mark) {}

  private FailureLog() {}

  static void begin(ExtensionContext.Store store, Server server) {
    store.put(Begin.class, new Begin(server, server.logMark()));
  }

  static void end(ExtensionContext.Store store, ExtensionContext context, Optional<World> world) {
    Begin begin = store.get(Begin.class, Begin.class);
    if (begin == null || context.getExecutionException().isEmpty()) {
      return;
    }
    String of = world.map(World::toString).orElseGet(begin.server::toString);
    String log = begin.server.logSince(begin.mark);
    String text = log.isEmpty() ? "(nothing)\n" : log;
    context.publishReportEntry(Map.of("mayfly.world", of, "mayfly.log", text));
    System.err.print("mayfly's log while " + context.getDisplayName() + " failed, with " + of + ":\n" + text);
  }
}

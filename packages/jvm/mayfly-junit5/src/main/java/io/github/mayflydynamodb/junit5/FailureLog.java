package io.github.mayflydynamodb.junit5;

import io.github.mayflydynamodb.MayflyException;
import io.github.mayflydynamodb.Server;
import io.github.mayflydynamodb.World;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Shows the server's log since the beginning of a failed test. The log includes lines from tests that ran at the same
 * time.
 */
final class FailureLog {
  private record Begin(Server server, long mark) {}

  private FailureLog() {}

  static void begin(ExtensionContext.Store store, Server server) {
    store.put(Begin.class, new Begin(server, server.logMark()));
  }

  static void show(ExtensionContext.Store store, ExtensionContext context, Optional<World> world) {
    Begin begin = store.get(Begin.class, Begin.class);
    if (begin == null) {
      return;
    }
    String of = world.map(World::toString).orElseGet(begin.server::toString);
    String log = begin.server.logSince(begin.mark);
    String text = log.isEmpty() ? "(empty)\n" : log;
    String suspects = world.map(FailureLog::suspects).orElse("");
    Map<String, String> entries = new LinkedHashMap<>(Map.of("mayfly.world", of, "mayfly.log", text));
    if (!suspects.isEmpty()) {
      entries.put("mayfly.ttl", suspects);
    }
    context.publishReportEntry(entries);
    System.err.print("Mayfly's log for the failed test " + context.getDisplayName() + ", " + of + ":\n" + text);
    if (!suspects.isEmpty()) {
      System.err.print("Mayfly found items with a suspect TTL:\n" + suspects);
    }
  }

  /** Returns a line for each item whose TTL can never fire or had passed when the item was written. */
  private static String suspects(World world) {
    try {
      return world.ttlSuspects().stream().map(each -> "  " + each + "\n").collect(Collectors.joining());
    } catch (MayflyException gone) {
      return ""; // The server has died, which is why the test failed.
    }
  }
}

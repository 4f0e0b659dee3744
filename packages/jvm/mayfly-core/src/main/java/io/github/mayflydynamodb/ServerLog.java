package io.github.mayflydynamodb;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;

/** The last 10,000 lines that the server wrote to stderr. */
final class ServerLog {
  private static final int LINES_MAX = 10_000;

  private final ArrayDeque<String> lines = new ArrayDeque<>();
  private long written;

  /** Reads until the stream ends, in a thread of its own. */
  Thread follow(InputStream stderr) {
    return Daemon.start("mayfly log", () -> readAll(stderr));
  }

  private void readAll(InputStream stderr) {
    try (BufferedReader reader = new BufferedReader(new InputStreamReader(stderr, StandardCharsets.UTF_8))) {
      for (String line; (line = reader.readLine()) != null; ) {
        add(line);
      }
    } catch (IOException ended) {
      // The process has ended, and its output has been read.
    }
  }

  private synchronized void add(String line) {
    if (lines.size() == LINES_MAX) {
      lines.removeFirst();
    }
    lines.addLast(line);
    ++written;
  }

  /** How many lines there have been; for {@link #since}. */
  synchronized long mark() {
    return written;
  }

  /** The lines after a mark, those of them that are still kept. */
  synchronized String since(long mark) {
    long skipped = Math.max(0, mark - (written - lines.size()));
    StringBuilder text = new StringBuilder();
    lines.stream().skip(skipped).forEach(line -> text.append(line).append('\n'));
    return text.toString();
  }

  /** Its last lines. */
  synchronized String tail(int count) {
    return since(Math.max(0, written - count));
  }
}

package io.github.mayflydynamodb;

import java.io.BufferedReader;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Keeps the last 10,000 lines that the server wrote to stderr. A thread reads them from a pipe. To see everything that
 * the server has written so far, a caller writes a mark to the same pipe and waits until that thread has read it. Only
 * Linux lets a process write to that pipe. On other systems, a caller that reads lines waits until no line has arrived
 * for a moment.
 */
final class ServerLog {
  private static final int LINES_MAX = 10_000;
  private static final String MARK = "\0";
  private static final long CATCH_UP_MAX_SECONDS = 1;
  private static final long QUIET_MILLIS = 20;

  private final Path processes;
  private final boolean marksPossible;

  private final ArrayDeque<String> lines = new ArrayDeque<>(); // guarded by this
  private long written; // guarded by this
  // One latch for each mark in the pipe, oldest first; guarded by this.
  private final ArrayDeque<CountDownLatch> marks = new ArrayDeque<>();

  private final Object marking = new Object(); // keeps `marks` in the pipe's order; locked before `this`
  private OutputStream pipe = OutputStream.nullOutputStream(); // guarded by marking
  private boolean open; // guarded by marking
  private volatile Thread reader;

  ServerLog() {
    this(Path.of("/proc"));
  }

  /**
   * @param processes the directory that has a directory for each process; if it does not exist, marks are not possible
   */
  ServerLog(Path processes) {
    this.processes = processes;
    marksPossible = Files.isDirectory(processes);
  }

  /**
   * Starts a thread that reads the process's stderr until the process exits. Requires: this method is called only once.
   *
   * @return the thread
   */
  Thread follow(Process process) {
    try {
      synchronized (marking) {
        pipe = new FileOutputStream(processes.resolve(process.pid() + "/fd/2").toFile());
        open = true;
      }
      // The reading thread waits until the pipe is closed everywhere, so close it when the process has ended.
      process.onExit().thenRun(this::closePipe);
    } catch (IOException failed) {
      // The process has ended already, or there is no /proc.
    }
    reader = Daemon.start("mayfly log", () -> readAll(process.getErrorStream()));
    return reader;
  }

  private void closePipe() {
    synchronized (marking) {
      open = false;
      try {
        pipe.close();
      } catch (IOException failed) {
        // The pipe is closed even if close() throws.
      }
    }
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
    boolean marked = line.endsWith(MARK) && !marks.isEmpty();
    String text = marked ? line.substring(0, line.length() - MARK.length()) : line;
    // A mark can follow the beginning of a line that the server has not finished.
    if (!marked || !text.isEmpty()) {
      if (lines.size() == LINES_MAX) {
        lines.removeFirst();
      }
      lines.addLast(text);
      ++written;
    }
    if (marked) {
      marks.removeFirst().countDown();
    }
  }

  /**
   * Waits until all lines that the process has written so far have been read, for at most CATCH_UP_MAX_SECONDS. Returns
   * at once if marks are not possible.
   */
  private void catchUp() {
    CountDownLatch read = new CountDownLatch(1);
    synchronized (marking) {
      if (!open) {
        return;
      }
      synchronized (this) {
        marks.addLast(read);
      }
      try {
        pipe.write((MARK + "\n").getBytes(StandardCharsets.UTF_8));
      } catch (IOException ended) {
        return;
      }
    }
    try {
      read.await(CATCH_UP_MAX_SECONDS, TimeUnit.SECONDS);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /** Waits until no line has arrived for QUIET_MILLIS or the process has ended, for at most CATCH_UP_MAX_SECONDS. */
  private void awaitQuiet() {
    long begin = System.nanoTime();
    try {
      for (long seen = -1; seen != written() && System.nanoTime() - begin < CATCH_UP_MAX_SECONDS * 1_000_000_000; ) {
        seen = written();
        reader.join(QUIET_MILLIS);
      }
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private void catchUpToRead() {
    if (marksPossible) {
      catchUp();
    } else {
      awaitQuiet();
    }
  }

  private synchronized long written() {
    return written;
  }

  /**
   * Returns the number of lines that have been written so far, for {@link #since}. If marks are not possible, the number
   * can be too small.
   */
  long mark() {
    catchUp();
    return written();
  }

  /** Returns the lines after a mark, except lines that are no longer kept. */
  String since(long mark) {
    catchUpToRead();
    return text(mark);
  }

  /** Returns the last {@code count} lines. */
  String tail(int count) {
    catchUpToRead();
    return text(Math.max(0, written() - count));
  }

  private synchronized String text(long mark) {
    long skipped = Math.max(0, mark - (written - lines.size()));
    StringBuilder text = new StringBuilder();
    lines.stream().skip(skipped).forEach(line -> text.append(line).append('\n'));
    return text.toString();
  }
}

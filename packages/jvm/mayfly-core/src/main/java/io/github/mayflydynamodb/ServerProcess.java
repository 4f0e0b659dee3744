package io.github.mayflydynamodb;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A {@code mayfly serve} process that this JVM has started. The process exits when the JVM exits. */
final class ServerProcess {
  private static final Pattern FIRST_LINE = Pattern.compile("mayfly listening on (http\\S+)");
  private static final String[][] DEFAULTS = {
    {"--port", "0"}, {"--exit-with-parent"}, {"--accounts-max", "1000000"}
  };
  private static final Duration END_TIMEOUT = Duration.ofSeconds(5);
  private static final Duration END_NOTICE = Duration.ofMillis(200);
  private static final int LAUNCHES_MAX = 50;
  private static final int LOG_LINES_SHOWN = 40;
  private static final Map<Integer, String> SIGNALS =
      Map.of(
          1, "SIGHUP", 2, "SIGINT", 3, "SIGQUIT", 4, "SIGILL", 6, "SIGABRT", 7, "SIGBUS", 8, "SIGFPE", 9, "SIGKILL",
          11, "SIGSEGV", 15, "SIGTERM");

  private final Path binary;
  private final Process process;
  private final ServerLog log = new ServerLog();
  private final Thread logReader;
  private final URI url;

  /** Starts the process, and returns when the process has written its first line, after which it answers requests. */
  ServerProcess(Path binary, List<String> arguments, Duration timeout) {
    this.binary = binary;
    process = launch(command(binary, arguments));
    logReader = log.follow(process);
    CompletableFuture<Optional<String>> firstLine = new CompletableFuture<>();
    Daemon.start("mayfly output", () -> readOutput(firstLine));
    try {
      String line = firstLine.get(timeout.toNanos(), TimeUnit.NANOSECONDS).orElseThrow(this::died);
      Matcher matcher = FIRST_LINE.matcher(line);
      if (!matcher.matches()) {
        throw new MayflyException(
            binary + " is not Mayfly: its first line is \"" + line + "\". Set MAYFLY_BINARY to a mayfly program.");
      }
      url = URI.create(matcher.group(1));
    } catch (MayflyException failed) {
      end();
      throw failed;
    } catch (TimeoutException late) {
      end();
      throw new MayflyException(
          "mayfly did not answer within " + spoken(timeout) + " and was stopped. To wait longer, raise startTimeout."
              + withLog());
    } catch (InterruptedException interrupted) {
      end();
      Thread.currentThread().interrupt();
      throw new MayflyException("The thread was interrupted while mayfly started.", interrupted);
    } catch (ExecutionException failed) {
      end();
      throw new MayflyException("Cannot read mayfly's output.", failed);
    }
  }

  URI url() {
    return url;
  }

  ServerLog log() {
    return log;
  }

  long pid() {
    return process.pid();
  }

  boolean isAlive() {
    return process.isAlive();
  }

  /** Ends the process with SIGTERM. If it is still running after five seconds, kills it with SIGKILL. */
  void end() {
    process.destroy();
    boolean interrupted = false;
    try {
      if (!process.waitFor(END_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS)) {
        process.destroyForcibly();
      }
    } catch (InterruptedException stopped) {
      process.destroyForcibly();
      interrupted = true;
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /**
   * Returns an exception for a failed start. Its message is a sentence such as "mayfly exited with status 1 before it
   * was ready.", followed by the log.
   */
  MayflyException died() {
    awaitLastWords();
    if (process.isAlive()) {
      return new MayflyException("mayfly closed its output before it was ready, and was stopped." + withLog());
    }
    String sentence = "mayfly " + ending() + " before it was ready.";
    Optional<String> built = Platform.of(binary);
    if (built.isPresent() && !built.get().equals(Platform.current())) {
      sentence =
          binary + " is a program for " + built.get() + ", not for " + Platform.current()
              + ": set MAYFLY_BINARY to a mayfly program for this machine.";
    }
    return new MayflyException(sentence + withLog());
  }

  /** Returns whether the process has ended. Waits up to END_NOTICE, because a killed process needs some time to end. */
  boolean hasEnded() {
    try {
      return process.waitFor(END_NOTICE.toMillis(), TimeUnit.MILLISECONDS);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      return !process.isAlive();
    }
  }

  /**
   * Returns the exception for a request that got no response because the process has ended; empty if the
   * process is still running.
   *
   * @param request the name of the request, such as "PutItem" or "GET /_mayfly/clock"
   */
  Optional<MayflyException> death(String request, Throwable cause) {
    if (!hasEnded()) {
      return Optional.empty();
    }
    awaitLastWords();
    String lines = log.tail(LOG_LINES_SHOWN);
    String shown = lines.isEmpty() ? " Its log is empty." : " Its log:\n" + lines.indent(2).stripTrailing();
    return Optional.of(
        new MayflyException("Mayfly's server " + ending() + " before it answered " + request + "." + shown, cause));
  }

  /** Returns "was killed by SIGKILL" or "exited with status 3". Requires: the process has ended. */
  private String ending() {
    int status = process.exitValue();
    String signal = SIGNALS.get(status - 128); // the JVM reports a signal as 128 + its number
    return signal == null ? "exited with status " + status : "was killed by " + signal;
  }

  private void awaitLastWords() {
    try {
      process.waitFor(END_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
      logReader.join(END_TIMEOUT.toMillis());
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private String withLog() {
    String text = log.since(0);
    return text.isEmpty() ? " Its log is empty." : " Its log:\n" + text;
  }

  private void readOutput(CompletableFuture<Optional<String>> firstLine) {
    try (BufferedReader reader =
        new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
      String line = reader.readLine();
      firstLine.complete(Optional.ofNullable(line));
      while (line != null) {
        line = reader.readLine();
      }
    } catch (IOException ended) {
      firstLine.complete(Optional.empty());
    }
  }

  private static List<String> command(Path binary, List<String> arguments) {
    List<String> command = new ArrayList<>(List.of(binary.toString(), "serve"));
    for (String[] option : DEFAULTS) {
      boolean given = arguments.stream().anyMatch(one -> one.equals(option[0]) || one.startsWith(option[0] + "="));
      if (!given) {
        command.addAll(List.of(option));
      }
    }
    command.addAll(arguments);
    return command;
  }

  private static Process launch(List<String> command) {
    for (int tries = 1; ; ++tries) {
      try {
        return new ProcessBuilder(command).start();
      } catch (IOException failed) {
        // ETXTBSY: a process that another thread is starting can have the newly unpacked file open for a moment.
        if (String.valueOf(failed.getMessage()).contains("error=26,") && tries < LAUNCHES_MAX) {
          Thread.onSpinWait();
          continue;
        }
        throw new MayflyException(
            "Cannot start " + command.get(0) + " (" + failed.getMessage()
                + "): if its file system is mounted noexec, copy it elsewhere and set MAYFLY_BINARY to the copy.",
            failed);
      }
    }
  }

  private static String spoken(Duration duration) {
    return Times.seconds(duration).toPlainString() + " s";
  }
}

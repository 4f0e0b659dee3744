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
  private static final int LOG_LINES_SHOWN = 40;

  private final Path binary;
  private final Process process;
  private final ServerLog log = new ServerLog();
  private final Thread logReader;
  private final URI url;

  /** Starts the process, and returns when the process has written its first line, after which it answers requests. */
  ServerProcess(Path binary, List<String> arguments, Duration timeout) {
    this.binary = binary;
    process = Launch.start(binary, command(binary, arguments));
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

  /**
   * Ends the process with SIGTERM. If it is still running after five seconds, kills it with SIGKILL. On Windows, kills it
   * at once, which loses no acknowledged write. Returns when the process has ended.
   */
  void end() {
    process.destroy();
    boolean interrupted = false;
    try {
      if (!process.waitFor(END_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS)) {
        process.destroyForcibly().waitFor(END_TIMEOUT.toMillis(), TimeUnit.MILLISECONDS);
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
    return new MayflyException(Launch.ended(binary, process.exitValue(), Platform.current()) + withLog());
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
    String ending = Ending.of(process.exitValue(), Platform.current());
    return Optional.of(
        new MayflyException("Mayfly's server " + ending + " before it answered " + request + "." + shown, cause));
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

  private static String spoken(Duration duration) {
    return Times.seconds(duration).toPlainString() + " s";
  }
}

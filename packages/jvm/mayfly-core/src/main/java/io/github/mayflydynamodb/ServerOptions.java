package io.github.mayflydynamodb;

import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;

/**
 * Options for starting a server. Each method returns a changed copy.
 *
 * @param binary the path of the program; null: {@code MAYFLY_BINARY}, else the jar on the class path, else {@code
 *     mayfly} on PATH
 * @param url the URL of an existing server, which is neither started nor ended; null: {@code MAYFLY_URL}, if that is
 *     set
 * @param arguments additional arguments of {@code mayfly serve}; they override {@code --port} and {@code
 *     --accounts-max}, which the package sets
 * @param startTimeout the time limit for the start
 */
public record ServerOptions(Path binary, URI url, List<String> arguments, Duration startTimeout) {
  public ServerOptions {
    arguments = List.copyOf(arguments);
    Objects.requireNonNull(startTimeout);
  }

  /** Returns the default options: no binary, URL or arguments, and a time limit of ten seconds. */
  public static ServerOptions defaults() {
    return new ServerOptions(null, null, List.of(), Duration.ofSeconds(10));
  }

  /** Sets the path of the program. */
  public ServerOptions binary(Path program) {
    return new ServerOptions(program, url, arguments, startTimeout);
  }

  /** Sets the URL of an existing server. */
  public ServerOptions url(URI running) {
    return new ServerOptions(binary, running, arguments, startTimeout);
  }

  /** Sets the additional arguments; {@code mayfly serve --help} lists them. */
  public ServerOptions arguments(String... more) {
    return new ServerOptions(binary, url, List.of(more), startTimeout);
  }

  /** Sets the time limit for the start. */
  public ServerOptions startTimeout(Duration time) {
    return new ServerOptions(binary, url, arguments, time);
  }
}

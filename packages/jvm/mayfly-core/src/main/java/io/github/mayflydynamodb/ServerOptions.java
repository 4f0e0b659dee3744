package io.github.mayflydynamodb;

import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;

/**
 * How to start a server, or which to use. Each method returns a changed copy.
 *
 * @param binary the program; null: {@code MAYFLY_BINARY}, the one on the class path, or {@code mayfly} on PATH
 * @param url a server that runs already; null: {@code MAYFLY_URL}, or else one is started
 * @param arguments more of {@code mayfly serve}'s
 * @param startTimeout how long the start may take
 */
public record ServerOptions(Path binary, URI url, List<String> arguments, Duration startTimeout) {
  public ServerOptions {
    arguments = List.copyOf(arguments);
    Objects.requireNonNull(startTimeout);
  }

  public static ServerOptions defaults() {
    return new ServerOptions(null, null, List.of(), Duration.ofSeconds(10));
  }

  public ServerOptions binary(Path program) {
    return new ServerOptions(program, url, arguments, startTimeout);
  }

  public ServerOptions url(URI running) {
    return new ServerOptions(binary, running, arguments, startTimeout);
  }

  /** {@code mayfly serve --help} lists them. */
  public ServerOptions arguments(String... more) {
    return new ServerOptions(binary, url, List.of(more), startTimeout);
  }

  public ServerOptions startTimeout(Duration time) {
    return new ServerOptions(binary, url, arguments, time);
  }
}

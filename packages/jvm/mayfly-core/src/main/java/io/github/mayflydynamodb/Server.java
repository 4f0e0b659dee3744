package io.github.mayflydynamodb;

import java.net.URI;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * A running Mayfly server: one that this JVM started, or an existing one.
 *
 * <pre>{@code
 * try (Server server = Server.start(); World world = server.world()) {
 *   world.dynamoDb().listTables();
 * }
 * }</pre>
 *
 * <p>This class is thread-safe. If the JVM exits for any reason before {@link #close()} is called, the server exits
 * within a fifth of a second.
 */
public final class Server implements AutoCloseable {
  /** The default region of worlds. */
  public static final String REGION = "us-east-1";

  private static final SecureRandom RANDOM = new SecureRandom();

  private final URI url;
  private final String version;
  private final ServerProcess process; // null: an existing server
  private final HttpClients httpClients = new HttpClients();

  private Server(URI url, ServerProcess process, Duration timeout) {
    this.url = url;
    this.process = process;
    this.version = askVersion(timeout);
  }

  /** Starts a server with the default options, or uses the existing one at {@code MAYFLY_URL}. */
  public static Server start() {
    return start(ServerOptions.defaults());
  }

  /**
   * Starts a server, or uses an existing one, and returns when the server answers.
   *
   * @throws MayflyException if no program was found, the server exits or does not answer in time, or the server is not
   *     from the same release as this package; the message says what to do
   */
  public static Server start(ServerOptions options) {
    return start(options, Platform.variables(System.getenv(), Platform.current()));
  }

  static Server start(ServerOptions options, Map<String, String> environment) {
    Optional<URI> running = running(options, environment);
    if (running.isPresent()) {
      return new Server(running.get(), null, options.startTimeout());
    }
    String platform = Platform.current();
    var bundled =
        new BundledBinary(Server.class.getClassLoader(), CacheDirectories.of(platform, environment), platform);
    Path binary = Binary.find(options.binary(), environment, bundled);
    var process = new ServerProcess(binary, options.arguments(), options.startTimeout());
    try {
      return new Server(process.url(), process, options.startTimeout());
    } catch (MayflyException unusable) {
      boolean hadEnded = !process.isAlive();
      process.end();
      throw hadEnded ? process.died() : unusable;
    }
  }

  private static Optional<URI> running(ServerOptions options, Map<String, String> environment) {
    if (options.url() != null) {
      return Optional.of(withoutSlash(options.url().toString(), "The option url"));
    }
    String variable = environment.get("MAYFLY_URL");
    return variable == null || variable.isBlank()
        ? Optional.empty()
        : Optional.of(withoutSlash(variable.strip(), "MAYFLY_URL"));
  }

  private static URI withoutSlash(String url, String by) {
    try {
      URI uri = URI.create(url.replaceAll("/+$", ""));
      if (uri.getScheme() != null && uri.getScheme().matches("https?") && uri.getHost() != null) {
        return uri;
      }
    } catch (IllegalArgumentException malformed) {
      // The error is thrown below.
    }
    throw new MayflyException(by + " must be a URL such as http://127.0.0.1:8000, got \"" + url + "\".");
  }

  private String askVersion(Duration timeout) {
    Http.Answer health;
    try {
      health = health(timeout);
    } catch (MayflyException silent) {
      throw new MayflyException(
          silent.getMessage()
              + (process == null ? ". Start Mayfly there, or unset MAYFLY_URL to let the package start a server." : "."),
          silent.getCause());
    }
    Object answered = Json.parseObject(health.body()).get("version");
    if (answered == null) {
      throw new MayflyException("No Mayfly server answers at " + url + " (/_mayfly/health returned HTTP status "
          + health.status() + " and no version). Correct MAYFLY_URL.");
    }
    Version.check(answered.toString(), "at " + url);
    return answered.toString();
  }

  private Http.Answer health(Duration timeout) {
    return new Control(url, "000000000000", REGION, process).send("GET", "/health", null, timeout);
  }

  /** Returns the version of this package. The server must have the same major and minor version. */
  public static String packageVersion() {
    return Version.PACKAGE;
  }

  /** Returns the server's URL, without a trailing slash, such as {@code http://127.0.0.1:40001}. */
  public URI url() {
    return url;
  }

  /** Returns the server's version. */
  public String version() {
    return version;
  }

  /** Returns the server's process id; empty for an existing server that this JVM did not start. */
  public OptionalLong pid() {
    return process == null ? OptionalLong.empty() : OptionalLong.of(process.pid());
  }

  /**
   * Returns whether the server has died. The worlds of a dead server are lost: start another server. Returns false for
   * an existing server that this JVM did not start.
   */
  public boolean hasDied() {
    if (process == null) {
      return false;
    }
    try {
      health(ServerOptions.defaults().startTimeout());
      return false;
    } catch (MayflyException silent) {
      return process.hasEnded();
    }
  }

  /** Creates a world: a new account in the region {@link #REGION}. This method sends no request. */
  public World world() {
    // The account has twelve digits, and the first digit is not 0.
    return world(Long.toString(RANDOM.nextLong(100_000_000_000L, 1_000_000_000_000L)), REGION);
  }

  /**
   * Creates a world with a given account, for example to share the world between two programs.
   *
   * @param account twelve digits
   * @throws IllegalArgumentException if the account is not twelve digits
   */
  public World world(String account, String region) {
    if (!account.matches("\\d{12}")) {
      throw new IllegalArgumentException("An account must have twelve digits, got " + account + ".");
    }
    return new World(this, new Control(url, account, region, process), httpClients);
  }

  /** Returns the last 10,000 lines of the server's log; empty for an existing server that this JVM did not start. */
  public String log() {
    return logSince(0);
  }

  /** Returns the current position in the log, for {@link #logSince}. */
  public long logMark() {
    return process == null ? 0 : process.log().mark();
  }

  /** Returns the log lines after a position that {@link #logMark} returned. */
  public String logSince(long mark) {
    return process == null ? "" : process.log().since(mark);
  }

  /**
   * Ends the server with SIGTERM if this JVM started the server. A server that is still running after five seconds is
   * killed with SIGKILL. On Windows, the server is killed at once, which loses no acknowledged write.
   */
  @Override
  public void close() {
    httpClients.close();
    if (process != null) {
      process.end();
    }
  }

  @Override
  public String toString() {
    return "mayfly " + version + " at " + url;
  }
}

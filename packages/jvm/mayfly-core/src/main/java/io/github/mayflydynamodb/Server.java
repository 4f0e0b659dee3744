package io.github.mayflydynamodb;

import java.net.URI;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalLong;

/**
 * A Mayfly: one that this starts on a free port and ends again, or one that runs already.
 *
 * <pre>{@code
 * try (Server server = Server.start(); World world = server.world()) {
 *   world.dynamoDb().listTables();
 * }
 * }</pre>
 *
 * <p>Everything here may be called from any thread. A JVM that ends without {@link #close()}, however that was, takes the
 * server with it within a fifth of a second.
 */
public final class Server implements AutoCloseable {
  /** The region of worlds that name none. */
  public static final String REGION = "us-east-1";

  private static final SecureRandom RANDOM = new SecureRandom();

  private final URI url;
  private final String version;
  private final ServerProcess process; // null: not ours
  private final HttpClients httpClients = new HttpClients();

  private Server(URI url, ServerProcess process, Duration timeout) {
    this.url = url;
    this.process = process;
    this.version = askVersion(timeout);
  }

  /** Starts one, or uses the one that {@code MAYFLY_URL} names. */
  public static Server start() {
    return start(ServerOptions.defaults());
  }

  /**
   * @throws MayflyException if there is no binary, it does not start in time or ends at once, the server that was named
   *     does not answer, or it is of another version than this package
   */
  public static Server start(ServerOptions options) {
    return start(options, System.getenv());
  }

  static Server start(ServerOptions options, Map<String, String> environment) {
    Optional<URI> running = running(options, environment);
    if (running.isPresent()) {
      return new Server(running.get(), null, options.startTimeout());
    }
    var bundled = new BundledBinary(Server.class.getClassLoader(), environment, Platform.current());
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
      return Optional.of(withoutSlash(options.url().toString(), "the option url"));
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
      // Told below.
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
              + (process == null ? ". Start one there, or leave out MAYFLY_URL to have one started." : "."),
          silent.getCause());
    }
    Object answered = Json.parseObject(health.body()).get("version");
    if (answered == null) {
      throw new MayflyException("what answers at " + url + " is no mayfly: /_mayfly/health has status "
          + health.status() + " and no version. Correct MAYFLY_URL.");
    }
    Version.check(answered.toString(), "at " + url);
    return answered.toString();
  }

  private Http.Answer health(Duration timeout) {
    return new Control(url, "000000000000", REGION, process).send("GET", "/health", null, timeout);
  }

  /** This package's version. The server's has the same major and minor version. */
  public static String packageVersion() {
    return Version.PACKAGE;
  }

  /** Where it listens, such as {@code http://127.0.0.1:40001}. */
  public URI url() {
    return url;
  }

  public String version() {
    return version;
  }

  /** The process; empty: the server ran already, and is not ours. */
  public OptionalLong pid() {
    return process == null ? OptionalLong.empty() : OptionalLong.of(process.pid());
  }

  /**
   * Whether the server was started here and has died. Its worlds are lost then: start another server.
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

  /** Opens a world: a new account. */
  public World world() {
    // Twelve digits, of which the first is not 0.
    return world(Long.toString(RANDOM.nextLong(100_000_000_000L, 1_000_000_000_000L)), REGION);
  }

  /**
   * An account of your choice, as when two programs share a world.
   *
   * @param account twelve digits
   */
  public World world(String account, String region) {
    if (!account.matches("\\d{12}")) {
      throw new IllegalArgumentException("an account is twelve digits, not " + account + ".");
    }
    return new World(this, new Control(url, account, region, process), httpClients);
  }

  /** What the server has logged, at most the last 10,000 lines; empty if it is not ours. */
  public String log() {
    return logSince(0);
  }

  /** How many lines it has logged until now; {@link #logSince} takes it. */
  public long logMark() {
    return process == null ? 0 : process.log().mark();
  }

  /** What it has logged after a mark. */
  public String logSince(long mark) {
    return process == null ? "" : process.log().since(mark);
  }

  /** Ends the server if it is ours: SIGTERM, and SIGKILL after five seconds. */
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

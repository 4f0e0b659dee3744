package io.github.mayflydynamodb.spring;

import io.github.mayflydynamodb.ServerOptions;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The properties {@code mayfly.*} in a test's configuration.
 *
 * @param enabled whether the context gets Mayfly's beans; default: true
 * @param url the URL of an existing server; default: {@code MAYFLY_URL}, if that is set
 * @param binary the path of the program; default: {@code MAYFLY_BINARY}, else the jar on the class path, else PATH
 * @param arguments additional arguments of {@code mayfly serve}
 * @param startTimeout the time limit for the start; default: ten seconds
 * @param replace whether the world's clients and clock replace the application's own DynamoDB clients and Clock;
 *     default: true
 * @param restore whether, before each test method, the world is restored to its state before the first test method;
 *     default: true
 */
@ConfigurationProperties("mayfly")
public record MayflyProperties(
    @DefaultValue("true") boolean enabled,
    URI url,
    Path binary,
    @DefaultValue List<String> arguments,
    @DefaultValue("10s") Duration startTimeout,
    @DefaultValue("true") boolean replace,
    @DefaultValue("true") boolean restore) {

  ServerOptions serverOptions() {
    return new ServerOptions(binary, url, arguments, startTimeout);
  }
}

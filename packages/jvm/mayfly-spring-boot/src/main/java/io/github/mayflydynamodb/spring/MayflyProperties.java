package io.github.mayflydynamodb.spring;

import io.github.mayflydynamodb.ServerOptions;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * {@code mayfly.*} of a test's configuration.
 *
 * @param enabled false: the context has nothing of Mayfly's
 * @param url a server that runs already
 * @param binary the program, if not the one that would be found
 * @param arguments more of {@code mayfly serve}'s
 * @param startTimeout how long the start may take
 * @param replace whether the application's own DynamoDB clients and Clock give way to the world's
 * @param restore whether each test method begins with the tables, items and time that the first began with
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

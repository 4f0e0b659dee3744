package io.github.mayflydynamodb.junit5;

import io.github.mayflydynamodb.MayflyException;
import io.github.mayflydynamodb.ServerOptions;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Reads options from JUnit's configuration parameters, which are set in junit-platform.properties or as system
 * properties.
 */
final class Configuration {
  private Configuration() {}

  static ServerOptions read(ExtensionContext context) {
    ServerOptions options = ServerOptions.defaults();
    String url = context.getConfigurationParameter("mayfly.url").orElse("");
    if (!url.isBlank()) {
      options = options.url(URI.create(url.strip()));
    }
    String binary = context.getConfigurationParameter("mayfly.binary").orElse("");
    if (!binary.isBlank()) {
      options = options.binary(Path.of(binary.strip()));
    }
    String arguments = context.getConfigurationParameter("mayfly.arguments").orElse("");
    if (!arguments.isBlank()) {
      options = options.arguments(arguments.strip().split("\\s+"));
    }
    String timeout = context.getConfigurationParameter("mayfly.start-timeout-seconds").orElse("");
    if (!timeout.isBlank()) {
      options = options.startTimeout(seconds(timeout.strip()));
    }
    return options;
  }

  private static Duration seconds(String text) {
    try {
      return Duration.ofMillis(Math.round(Double.parseDouble(text) * 1000));
    } catch (NumberFormatException wrong) {
      throw new MayflyException("mayfly.start-timeout-seconds must be a number such as 10, got \"" + text + "\".", wrong);
    }
  }
}

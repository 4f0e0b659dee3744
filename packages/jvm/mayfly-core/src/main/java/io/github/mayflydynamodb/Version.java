package io.github.mayflydynamodb;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Properties;

/** Which servers this package goes with: those of the same major and minor version. */
final class Version {
  static final String PACKAGE = read();

  private Version() {}

  static void check(String server, String where) {
    if (!majorAndMinor(server).equals(majorAndMinor(PACKAGE))) {
      throw new MayflyException(
          "mayfly " + where + " is version " + server + ", and this package is version " + PACKAGE
              + ": use both of the same major and minor version.");
    }
  }

  private static String majorAndMinor(String version) {
    String[] parts = version.split("[.-]");
    return parts.length < 2 ? version : parts[0] + "." + parts[1];
  }

  private static String read() {
    try (InputStream in = Version.class.getResourceAsStream("package.properties")) {
      Properties properties = new Properties();
      properties.load(in);
      return properties.getProperty("version");
    } catch (IOException unreadable) {
      throw new UncheckedIOException(unreadable);
    }
  }
}

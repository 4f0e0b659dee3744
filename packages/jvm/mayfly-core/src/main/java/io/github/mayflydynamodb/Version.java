package io.github.mayflydynamodb;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Properties;

/** The version of this package. The server must have the same major and minor version. */
final class Version {
  static final String PACKAGE = read();

  private Version() {}

  static void check(String server, String where) {
    if (!majorAndMinor(server).equals(majorAndMinor(PACKAGE))) {
      throw new MayflyException(
          "Package version " + PACKAGE + " cannot use the server " + where + ", which is version " + server
              + ": use a server and a package with the same major and minor version.");
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

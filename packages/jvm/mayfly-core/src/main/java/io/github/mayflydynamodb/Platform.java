package io.github.mayflydynamodb;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;

/** Names of platforms, such as {@code linux-x86_64}. */
final class Platform {
  /** The platforms that have a jar mayfly-binary-…. */
  static final Set<String> WITH_JAR = Set.of("linux-x86_64", "linux-aarch64");

  private static final int ELF_HEADER_BYTES = 20;

  private Platform() {}

  static String current() {
    return name(System.getProperty("os.name"), System.getProperty("os.arch"));
  }

  static String name(String os, String architecture) {
    String system = os.toLowerCase(Locale.ROOT);
    if (system.startsWith("mac")) {
      system = "macos";
    } else if (system.startsWith("windows")) {
      system = "windows";
    }
    return system
        + "-"
        + switch (architecture) {
          case "amd64" -> "x86_64";
          case "arm64" -> "aarch64";
          default -> architecture;
        };
  }

  /** Determines from a program's first bytes which platform the program was built for. Returns empty for a script. */
  static Optional<String> of(Path program) {
    byte[] head;
    try (InputStream in = Files.newInputStream(program)) {
      head = in.readNBytes(ELF_HEADER_BYTES);
    } catch (IOException unreadable) {
      return Optional.empty();
    }
    if (startsWith(head, 0x7f, 'E', 'L', 'F') && head.length == ELF_HEADER_BYTES) {
      return switch ((head[18] & 0xff) | (head[19] & 0xff) << 8) {
        case 62 -> Optional.of("linux-x86_64");
        case 183 -> Optional.of("linux-aarch64");
        default -> Optional.of("another kind of machine");
      };
    }
    if (startsWith(head, 0xcf, 0xfa, 0xed, 0xfe) || startsWith(head, 0xca, 0xfe, 0xba, 0xbe)) {
      return Optional.of("macos");
    }
    return startsWith(head, 'M', 'Z') ? Optional.of("windows") : Optional.empty();
  }

  private static boolean startsWith(byte[] bytes, int... expected) {
    for (int i = 0; i < expected.length; ++i) {
      if (bytes.length <= i || (bytes[i] & 0xff) != expected[i]) {
        return false;
      }
    }
    return true;
  }
}

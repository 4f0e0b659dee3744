package io.github.mayflydynamodb;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/** Names of platforms, such as {@code linux-x86_64}, and what differs between operating systems. */
final class Platform {
  /** The platforms that have a program, which are the classifiers of mayfly-binary. */
  static final List<String> WITH_PROGRAM =
      List.of("linux-x86_64", "linux-arm64", "macos-arm64", "macos-x86_64", "windows-x86_64");

  private static final int HEADER_BYTES = 64;

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
          case "aarch64" -> "arm64";
          default -> architecture;
        };
  }

  static boolean isWindows(String platform) {
    return platform.startsWith("windows-");
  }

  static boolean isMacos(String platform) {
    return platform.startsWith("macos-");
  }

  /** Returns whether a platform can run programs that were {@link #of built for} another platform. */
  static boolean canRun(String built, String platform) {
    return built.equals(platform)
        // Rosetta runs programs for x86-64 on arm64, and a JVM for x86-64 may itself run under Rosetta.
        || isMacos(platform) && isMacos(built)
        || !WITH_PROGRAM.contains(platform); // `of` cannot recognize programs for other platforms.
  }

  /** Returns the program's file name. */
  static String programName(String platform) {
    return isWindows(platform) ? "mayfly.exe" : "mayfly";
  }

  /** Returns a view of environment variables. On Windows, their names are not case-sensitive; PATH is usually "Path". */
  static Map<String, String> variables(Map<String, String> environment, String platform) {
    if (!isWindows(platform)) {
      return environment;
    }
    Map<String, String> variables = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
    variables.putAll(environment);
    return variables;
  }

  /** Determines from a program's bytes which platform the program was built for. Returns empty for a script. */
  static Optional<String> of(Path program) {
    try (SeekableByteChannel file = Files.newByteChannel(program)) {
      ByteBuffer header = read(file, HEADER_BYTES);
      if (startsWith(header, 0x7f, 'E', 'L', 'F') && header.limit() >= 20) {
        return switch (header.getShort(18)) {
          case 62 -> Optional.of("linux-x86_64");
          case 183 -> Optional.of("linux-arm64");
          default -> Optional.of("another kind of machine");
        };
      }
      if (startsWith(header, 0xcf, 0xfa, 0xed, 0xfe) && header.limit() >= 8) {
        return switch (header.getInt(4)) {
          case 0x0100_000c -> Optional.of("macos-arm64");
          case 0x0100_0007 -> Optional.of("macos-x86_64");
          default -> Optional.of("another kind of machine");
        };
      }
      return startsWith(header, 'M', 'Z') && header.limit() == HEADER_BYTES
          ? Optional.of(ofWindowsProgram(file, header.getInt(60) & 0xffff_ffffL))
          : Optional.empty();
    } catch (IOException unreadable) {
      return Optional.empty();
    }
  }

  /** Reads the machine from a PE header. */
  private static String ofWindowsProgram(SeekableByteChannel file, long offset) throws IOException {
    ByteBuffer header = read(file.position(offset), 6);
    boolean complete = startsWith(header, 'P', 'E', 0, 0) && header.limit() == 6;
    return complete && header.getShort(4) == (short) 0x8664 ? "windows-x86_64" : "another kind of machine";
  }

  /** Reads up to {@code bytes} bytes. The result's limit is the number of bytes that were read. */
  private static ByteBuffer read(SeekableByteChannel file, int bytes) throws IOException {
    ByteBuffer buffer = ByteBuffer.allocate(bytes).order(ByteOrder.LITTLE_ENDIAN);
    while (buffer.hasRemaining() && file.read(buffer) >= 0) {
      // A read can return fewer bytes than requested.
    }
    return buffer.flip();
  }

  private static boolean startsWith(ByteBuffer bytes, int... expected) {
    for (int i = 0; i < expected.length; ++i) {
      if (bytes.limit() <= i || (bytes.get(i) & 0xff) != expected[i]) {
        return false;
      }
    }
    return true;
  }
}

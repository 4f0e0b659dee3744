package io.github.mayflydynamodb;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Finds the mayfly program. Tries the caller's path, MAYFLY_BINARY, the jar on the class path and PATH, in this order.
 */
final class Binary {
  private Binary() {}

  /**
   * Returns the program's path. If the caller or MAYFLY_BINARY names a program that does not exist, no other program is
   * tried.
   *
   * @param named the caller's path; null: the caller names no program
   * @param environment see {@link Platform#variables}
   * @throws MayflyException if the configured program does not exist, or no program was found
   */
  static Path find(Path named, Map<String, String> environment, BundledBinary bundled) {
    if (named != null) {
      return existing(named, "The option binary", bundled.platform());
    }
    String variable = environment.get("MAYFLY_BINARY");
    if (variable != null && !variable.isBlank()) {
      return existing(path(variable), "MAYFLY_BINARY", bundled.platform());
    }
    return bundled
        .extract()
        .or(() -> onPath(environment.getOrDefault("PATH", ""), Platform.programName(bundled.platform())))
        .orElseThrow(() -> none(bundled.platform(), bundled.platformsOnClassPath()));
  }

  private static MayflyException none(String platform, List<String> others) {
    String version = Version.PACKAGE;
    String found = others.isEmpty() ? "" : " (the class path has programs for " + String.join(", ", others) + ")";
    String cure =
        Platform.WITH_PROGRAM.contains(platform)
            ? "add io.github.mayfly-dynamodb:mayfly-binary:" + version + " with the classifier " + platform
                + " to the test class path, put mayfly on PATH, set MAYFLY_BINARY to its path, or set MAYFLY_URL to the"
                + " URL of a running server."
            : "no release contains one. Build mayfly from source and set MAYFLY_BINARY to its path, or run the image"
                + " mayfly:" + version + " and set MAYFLY_URL to its URL.";
    return new MayflyException("No mayfly program found for " + platform + found + ": " + cure);
  }

  private static Path path(String variable) {
    try {
      return Path.of(variable);
    } catch (InvalidPathException invalid) {
      throw new MayflyException(
          "MAYFLY_BINARY is set to " + variable + ", which is not a path (" + invalid.getReason()
              + "): correct it. If the path is correct, set LC_ALL to a UTF-8 locale.",
          invalid);
    }
  }

  private static Path existing(Path program, String by, String platform) {
    if (!Files.isRegularFile(program)) {
      throw new MayflyException(
          by + " is set to " + program
              + ", but there is no such file: correct it, or remove it to use another program.");
    }
    if (!Files.isExecutable(program)) {
      throw new MayflyException(
          by + " is set to " + program + ", which is not executable: "
              + (Platform.isWindows(platform) ? "check its permissions." : "chmod +x " + program));
    }
    return program.toAbsolutePath();
  }

  private static Optional<Path> onPath(String path, String name) {
    for (String entry : path.split(File.pathSeparator)) {
      try {
        Path program = Path.of(entry.replace("\"", ""), name); // Windows allows quotes.
        // A relative entry depends on the working directory, which can contain another program of this name.
        if (program.isAbsolute() && Files.isRegularFile(program) && Files.isExecutable(program)) {
          return Optional.of(program);
        }
      } catch (InvalidPathException notAPath) {
        // Shells skip malformed entries as well.
      }
    }
    return Optional.empty();
  }
}

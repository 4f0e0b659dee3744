package io.github.mayflydynamodb;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
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
   * @throws MayflyException if the configured program does not exist, or no program was found
   */
  static Path find(Path named, Map<String, String> environment, BundledBinary bundled) {
    if (named != null) {
      return existing(named, "The option binary");
    }
    String variable = environment.get("MAYFLY_BINARY");
    if (variable != null && !variable.isBlank()) {
      return existing(Path.of(variable), "MAYFLY_BINARY");
    }
    return bundled
        .extract()
        .or(() -> onPath(environment.getOrDefault("PATH", "")))
        .orElseThrow(() -> none(bundled.platform()));
  }

  private static MayflyException none(String platform) {
    return new MayflyException(
        Platform.WITH_JAR.contains(platform)
            ? "No mayfly program found: add io.github.mayfly-dynamodb:mayfly-binary-" + platform
                + " to the test class path, put mayfly on PATH, set MAYFLY_BINARY to its path, or set MAYFLY_URL to the"
                + " URL of a running server."
            : "No mayfly program found, and no jar contains one for " + platform
                + ": build one and set MAYFLY_BINARY to its path, or set MAYFLY_URL to the URL of a server on another"
                + " machine.");
  }

  private static Path existing(Path program, String by) {
    if (!Files.isRegularFile(program)) {
      throw new MayflyException(
          by + " is set to " + program
              + ", but there is no such file: correct it, or remove it to use another program.");
    }
    if (!Files.isExecutable(program)) {
      throw new MayflyException(by + " is set to " + program + ", which is not executable: chmod +x " + program);
    }
    return program.toAbsolutePath();
  }

  private static Optional<Path> onPath(String path) {
    for (String directory : path.split(File.pathSeparator)) {
      try {
        Path program = Path.of(directory, "mayfly");
        if (!directory.isEmpty() && Files.isRegularFile(program) && Files.isExecutable(program)) {
          return Optional.of(program.toAbsolutePath());
        }
      } catch (InvalidPathException notAPath) {
        // Shells skip malformed entries as well.
      }
    }
    return Optional.empty();
  }
}

package io.github.mayflydynamodb;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;

/** Finds the program: the one that is named, MAYFLY_BINARY, the one on the class path, the one on PATH. */
final class Binary {
  private Binary() {}

  /**
   * @param named null: none is
   * @throws MayflyException if a named one is not there, or there is none at all
   */
  static Path find(Path named, Map<String, String> environment, BundledBinary bundled) {
    if (named != null) {
      return existing(named, "the option binary");
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
            ? "there is no mayfly: add io.github.mayfly-dynamodb:mayfly-binary-" + platform
                + " to the test class path, or name the program in MAYFLY_BINARY, or put mayfly on PATH."
            : "there is no mayfly, and no jar has one for " + platform
                + ": build it and name it in MAYFLY_BINARY, or name a server that runs elsewhere in MAYFLY_URL.");
  }

  private static Path existing(Path program, String by) {
    if (!Files.isRegularFile(program)) {
      throw new MayflyException(
          "there is no file " + program + ", which " + by + " names: correct it, or leave it out to use another.");
    }
    if (!Files.isExecutable(program)) {
      throw new MayflyException(program + ", which " + by + " names, may not be executed: chmod +x " + program);
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
        // An entry that means nothing; shells pass over it, too.
      }
    }
    return Optional.empty();
  }
}

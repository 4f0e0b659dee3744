package io.github.mayflydynamodb;

import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** The directories into which the program can be unpacked, best first. All of them belong to one user. */
final class CacheDirectories {
  private CacheDirectories() {}

  /** Returns the directories for this JVM's user. */
  static List<Path> of(String platform, Map<String, String> environment) {
    return of(
        platform,
        environment,
        System.getProperty("user.home"),
        System.getProperty("java.io.tmpdir"),
        System.getProperty("user.name"));
  }

  /**
   * Returns the absolute ones of these directories:
   *
   * <ul>
   *   <li>XDG_CACHE_HOME, else the cache of the system: {@code ~/.cache}, {@code ~/Library/Caches} or LOCALAPPDATA
   *   <li>the temporary directory. Not on Windows: unless it is in the user's profile, other users can write to the
   *       directories that a program creates in it.
   * </ul>
   *
   * @param home the home directory; "?" if the user has none
   */
  static List<Path> of(String platform, Map<String, String> environment, String home, String temporary, String user) {
    List<Path> directories = new ArrayList<>();
    Optional<Path> explicit = absolute(environment.get("XDG_CACHE_HOME"));
    if (explicit.isPresent()) {
      directories.add(explicit.get().resolve("mayfly"));
    } else if (Platform.isWindows(platform)) {
      absolute(environment.get("LOCALAPPDATA"))
          .or(() -> absolute(home).map(found -> found.resolve("AppData").resolve("Local")))
          .ifPresent(found -> directories.add(found.resolve("mayfly")));
    } else {
      String caches = Platform.isMacos(platform) ? "Library/Caches" : ".cache";
      absolute(home).ifPresent(found -> directories.add(found.resolve(caches).resolve("mayfly")));
    }
    if (!Platform.isWindows(platform)) {
      absolute(temporary).ifPresent(found -> directories.add(found.resolve("mayfly-" + user)));
    }
    return directories;
  }

  /** Returns a path, or empty if it is missing, relative, or not a path in this JVM's encoding. */
  private static Optional<Path> absolute(String path) {
    try {
      return Optional.ofNullable(path).filter(one -> !one.isBlank()).map(Path::of).filter(Path::isAbsolute);
    } catch (InvalidPathException unusable) {
      return Optional.empty();
    }
  }
}

package io.github.mayflydynamodb;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CacheDirectoriesTest {
  @TempDir Path root; // The paths must be absolute on the system that runs the tests.

  @Test
  void the_program_is_unpacked_into_the_cache_of_the_system() {
    assertEquals(paths("home/.cache/mayfly", "temporary/mayfly-ann"), directories("linux-arm64", Map.of()));
    assertEquals(paths("home/Library/Caches/mayfly", "temporary/mayfly-ann"), directories("macos-arm64", Map.of()));
    assertEquals(
        paths("local/mayfly"), directories("windows-x86_64", Map.of("LOCALAPPDATA", path("local").toString())));
    assertEquals(paths("home/AppData/Local/mayfly"), directories("windows-x86_64", Map.of()));
  }

  @Test
  void XDG_CACHE_HOME_names_another_directory_on_every_platform() {
    Map<String, String> environment =
        Map.of("XDG_CACHE_HOME", path("chosen").toString(), "LOCALAPPDATA", path("local").toString());
    assertEquals(paths("chosen/mayfly", "temporary/mayfly-ann"), directories("linux-x86_64", environment));
    assertEquals(paths("chosen/mayfly", "temporary/mayfly-ann"), directories("macos-x86_64", environment));
    assertEquals(paths("chosen/mayfly"), directories("windows-x86_64", environment));
  }

  @Test
  void without_a_home_directory_the_program_is_unpacked_into_the_temporary_directory() {
    String temporary = path("temporary").toString();
    assertEquals(
        paths("temporary/mayfly-ann"),
        CacheDirectories.of("linux-x86_64", Map.of("XDG_CACHE_HOME", "relative"), "?", temporary, "ann"));
    assertEquals(List.of(), CacheDirectories.of("windows-x86_64", Map.of("LOCALAPPDATA", " "), "?", temporary, "ann"));
  }

  @Test
  void a_variable_that_is_not_a_path_is_ignored() {
    assertEquals(
        paths("home/.cache/mayfly", "temporary/mayfly-ann"),
        directories("linux-x86_64", Map.of("XDG_CACHE_HOME", path("x") + "\0")));
  }

  private List<Path> directories(String platform, Map<String, String> environment) {
    return CacheDirectories.of(
        platform, environment, path("home").toString(), path("temporary").toString(), "ann");
  }

  private Path path(String relative) {
    return root.resolve(relative);
  }

  private List<Path> paths(String... relative) {
    return List.of(relative).stream().map(this::path).toList();
  }
}

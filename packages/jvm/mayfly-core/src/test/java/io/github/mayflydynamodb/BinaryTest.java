package io.github.mayflydynamodb;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.IOException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

@DisplayName("The search for the program")
class BinaryTest {
  @TempDir Path directory;
  private Path named;
  private Path onPath;
  private BundledBinary none;

  @BeforeEach
  void programs() throws IOException {
    named = program("named", "named");
    onPath = program("bin/mayfly", "on PATH");
    none = new BundledBinary(loader(directory.resolve("nothing")), Map.of(), "linux-x86_64");
  }

  @Test
  void the_search_tries_the_option_then_MAYFLY_BINARY_then_the_class_path_then_PATH() throws IOException {
    Path variable = program("variable", "variable");
    BundledBinary bundled = bundled("bundled", BundledBinary.checksum(program("bundled", "bundled")));
    Map<String, String> both =
        Map.of("MAYFLY_BINARY", variable.toString(), "PATH", "/nowhere:" + onPath.getParent());
    Map<String, String> path = Map.of("PATH", "/nowhere:" + onPath.getParent());
    assertEquals(named, Binary.find(named, both, bundled));
    assertEquals(variable, Binary.find(null, both, bundled));
    assertEquals("bundled", Files.readString(Binary.find(null, path, bundled)));
    assertEquals(onPath, Binary.find(null, path, none));
  }

  @Test
  void no_other_program_is_tried_if_a_configured_program_is_missing() {
    Path missing = directory.resolve("missing");
    Map<String, String> path = Map.of("PATH", onPath.getParent().toString());
    assertEquals(
        "The option binary is set to " + missing
            + ", but there is no such file: correct it, or remove it to use another program.",
        refused(() -> Binary.find(missing, path, none)));
    Map<String, String> variable =
        Map.of("PATH", onPath.getParent().toString(), "MAYFLY_BINARY", missing.toString());
    assertEquals(
        "MAYFLY_BINARY is set to " + missing
            + ", but there is no such file: correct it, or remove it to use another program.",
        refused(() -> Binary.find(null, variable, none)));
  }

  @Test
  void a_file_that_is_not_executable_is_rejected() throws IOException {
    Files.setPosixFilePermissions(named, PosixFilePermissions.fromString("rw-r--r--"));
    assertEquals(
        "The option binary is set to " + named + ", which is not executable: chmod +x " + named,
        refused(() -> Binary.find(named, Map.of(), none)));
  }

  @Test
  void if_no_program_is_found_the_error_says_how_to_get_one() {
    assertEquals(
        "No mayfly program found: add io.github.mayfly-dynamodb:mayfly-binary-linux-x86_64 to the test class path, put"
            + " mayfly on PATH, set MAYFLY_BINARY to its path, or set MAYFLY_URL to the URL of a running server.",
        refused(() -> Binary.find(null, Map.of("PATH", "/nowhere"), none)));
  }

  @Test
  void on_a_platform_without_a_jar_the_error_says_what_to_do() throws IOException {
    var elsewhere = new BundledBinary(loader(directory.resolve("nothing")), Map.of(), "macos-aarch64");
    assertEquals(
        "No mayfly program found, and no jar contains one for macos-aarch64: build one and set MAYFLY_BINARY to its path,"
            + " or set MAYFLY_URL to the URL of a server on another machine.",
        refused(() -> Binary.find(null, Map.of(), elsewhere)));
  }

  @Test
  void the_bundled_program_is_unpacked_once_and_only_for_the_current_user() throws IOException {
    BundledBinary bundled = bundled("bundled", BundledBinary.checksum(program("bundled", "bundled")));
    Path program = bundled.extract().orElseThrow();
    assertEquals(directory.resolve("cache/mayfly"), program.getParent().getParent());
    for (Path owned : new Path[] {program, program.getParent(), program.getParent().getParent()}) {
      assertEquals("rwx------", PosixFilePermissions.toString(Files.getPosixFilePermissions(owned)));
    }
    var time = Files.getLastModifiedTime(program);
    assertEquals(Optional.of(program), bundled.extract());
    assertEquals(time, Files.getLastModifiedTime(program));
    try (var files = Files.list(program.getParent())) {
      assertEquals(1, files.count());
    }
  }

  @Test
  void an_unpacked_program_of_the_wrong_length_is_replaced() throws IOException {
    BundledBinary bundled = bundled("bundled", BundledBinary.checksum(program("bundled", "bundled")));
    Path program = bundled.extract().orElseThrow();
    Files.writeString(program, "cut");
    assertEquals("bundled", Files.readString(bundled.extract().orElseThrow()));
  }

  @Test
  void an_unpacked_program_with_the_wrong_bytes_is_replaced() throws IOException {
    BundledBinary bundled = bundled("bundled", BundledBinary.checksum(program("bundled", "bundled")));
    Path program = bundled.extract().orElseThrow();
    Files.writeString(program, "bumbled");
    assertEquals("bundled", Files.readString(bundled.extract().orElseThrow()));
  }

  @Test
  void a_bundled_program_with_a_wrong_checksum_is_rejected() throws IOException {
    String refused = refused(() -> bundled("bundled", "0".repeat(64)).extract());
    assertEquals(
        "Cannot unpack mayfly from its jar (java.io.IOException: its SHA-256 is "
            + BundledBinary.checksum(program("bundled", "bundled"))
            + ", expected "
            + "0".repeat(64)
            + "): make ~/.cache or the temporary directory writable, or set MAYFLY_BINARY to an unpacked program.",
        refused);
  }

  @Test
  void the_program_is_unpacked_into_the_temporary_directory_if_the_cache_is_not_writable() throws IOException {
    Files.writeString(directory.resolve("cache"), "a file");
    Path program =
        bundled("bundled", BundledBinary.checksum(program("bundled", "bundled"))).extract().orElseThrow();
    assertEquals("bundled", Files.readString(program));
    assertEquals(Path.of(System.getProperty("java.io.tmpdir")), program.getParent().getParent().getParent());
    Files.delete(program);
    Files.delete(program.getParent());
  }

  @Test
  void platform_names_match_the_names_of_the_jars() {
    assertEquals("linux-x86_64", Platform.name("Linux", "amd64"));
    assertEquals("linux-aarch64", Platform.name("Linux", "aarch64"));
    assertEquals("macos-aarch64", Platform.name("Mac OS X", "aarch64"));
    assertEquals("windows-x86_64", Platform.name("Windows 11", "amd64"));
  }

  private Path program(String name, String text) throws IOException {
    Path program = directory.resolve(name);
    Files.createDirectories(program.getParent());
    Files.writeString(program, text);
    Files.setPosixFilePermissions(program, PosixFilePermissions.fromString("rwxr-xr-x"));
    return program;
  }

  /** Returns a program on a class path that has the same files as a jar mayfly-binary-…. */
  private BundledBinary bundled(String text, String sha256) throws IOException {
    Path resource = directory.resolve("jar/io/github/mayflydynamodb/binary/linux-x86_64/mayfly");
    Files.createDirectories(resource.getParent());
    Files.writeString(resource, text);
    Files.writeString(
        Path.of(resource + ".properties"), "sha256=" + sha256 + "\nbytes=" + Files.size(resource) + "\n");
    return new BundledBinary(
        loader(directory.resolve("jar")),
        Map.of("XDG_CACHE_HOME", directory.resolve("cache").toString()),
        "linux-x86_64");
  }

  private static ClassLoader loader(Path root) throws IOException {
    return new URLClassLoader(new URL[] {root.toUri().toURL()}, null);
  }

  private static String refused(org.junit.jupiter.api.function.Executable call) {
    return assertThrows(MayflyException.class, call).getMessage();
  }
}

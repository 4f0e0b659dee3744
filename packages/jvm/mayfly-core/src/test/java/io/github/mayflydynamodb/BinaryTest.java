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

@DisplayName("Which binary is run")
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
  void the_option_comes_first_then_the_variable_then_the_class_path_then_PATH() throws IOException {
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
  void a_named_one_that_is_missing_is_named_and_no_other_is_taken() {
    Path missing = directory.resolve("missing");
    Map<String, String> path = Map.of("PATH", onPath.getParent().toString());
    assertEquals(
        "there is no file " + missing + ", which the option binary names: correct it, or leave it out to use another.",
        refused(() -> Binary.find(missing, path, none)));
    Map<String, String> variable =
        Map.of("PATH", onPath.getParent().toString(), "MAYFLY_BINARY", missing.toString());
    assertEquals(
        "there is no file " + missing + ", which MAYFLY_BINARY names: correct it, or leave it out to use another.",
        refused(() -> Binary.find(null, variable, none)));
  }

  @Test
  void a_named_one_that_may_not_be_executed_is_told_so() throws IOException {
    Files.setPosixFilePermissions(named, PosixFilePermissions.fromString("rw-r--r--"));
    assertEquals(
        named + ", which the option binary names, may not be executed: chmod +x " + named,
        refused(() -> Binary.find(named, Map.of(), none)));
  }

  @Test
  void without_any_the_sentence_says_how_to_get_one() {
    assertEquals(
        "there is no mayfly: add io.github.mayfly-dynamodb:mayfly-binary-linux-x86_64 to the test class path,"
            + " or name the program in MAYFLY_BINARY, or put mayfly on PATH.",
        refused(() -> Binary.find(null, Map.of("PATH", "/nowhere"), none)));
  }

  @Test
  void on_a_machine_that_no_jar_is_made_for_the_sentence_says_what_else_there_is() throws IOException {
    var elsewhere = new BundledBinary(loader(directory.resolve("nothing")), Map.of(), "macos-aarch64");
    assertEquals(
        "there is no mayfly, and no jar has one for macos-aarch64: build it and name it in MAYFLY_BINARY,"
            + " or name a server that runs elsewhere in MAYFLY_URL.",
        refused(() -> Binary.find(null, Map.of(), elsewhere)));
  }

  @Test
  void the_bundled_one_is_unpacked_once_for_its_user_alone() throws IOException {
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
  void an_unpacked_one_of_another_length_is_replaced() throws IOException {
    BundledBinary bundled = bundled("bundled", BundledBinary.checksum(program("bundled", "bundled")));
    Path program = bundled.extract().orElseThrow();
    Files.writeString(program, "cut");
    assertEquals("bundled", Files.readString(bundled.extract().orElseThrow()));
  }

  @Test
  void an_unpacked_one_with_other_bytes_is_replaced() throws IOException {
    BundledBinary bundled = bundled("bundled", BundledBinary.checksum(program("bundled", "bundled")));
    Path program = bundled.extract().orElseThrow();
    Files.writeString(program, "bumbled");
    assertEquals("bundled", Files.readString(bundled.extract().orElseThrow()));
  }

  @Test
  void one_that_is_not_what_its_checksum_says_is_not_run() throws IOException {
    String refused = refused(() -> bundled("bundled", "0".repeat(64)).extract());
    assertEquals(
        "mayfly could not be unpacked from its jar (java.io.IOException: its SHA-256 is "
            + BundledBinary.checksum(program("bundled", "bundled"))
            + " and should be "
            + "0".repeat(64)
            + "): make ~/.cache or the temporary directory writable, or name an unpacked one in MAYFLY_BINARY.",
        refused);
  }

  @Test
  void where_the_cache_cannot_be_written_the_temporary_directory_is_taken() throws IOException {
    Files.writeString(directory.resolve("cache"), "a file");
    Path program =
        bundled("bundled", BundledBinary.checksum(program("bundled", "bundled"))).extract().orElseThrow();
    assertEquals("bundled", Files.readString(program));
    assertEquals(Path.of(System.getProperty("java.io.tmpdir")), program.getParent().getParent().getParent());
    Files.delete(program);
    Files.delete(program.getParent());
  }

  @Test
  void machines_have_the_names_that_the_jars_have() {
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

  /** As a jar on the class path has it. */
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

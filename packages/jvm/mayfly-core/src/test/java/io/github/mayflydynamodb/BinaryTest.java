package io.github.mayflydynamodb;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

@DisplayName("The search for the program")
class BinaryTest {
  private static final String HERE = Platform.current();
  private static final String NAME = Platform.programName(HERE);
  private static final String CLASSES = "io/github/mayflydynamodb/binary/";

  @TempDir Path directory;
  private Path named;
  private Path onPath;
  private BundledBinary none;

  @BeforeEach
  void programs() throws IOException {
    named = Programs.write(directory.resolve("named"), "named");
    onPath = Programs.write(directory.resolve("bin").resolve(NAME), "on PATH");
    none = new BundledBinary(loader(directory.resolve("nothing")), List.of(), HERE);
  }

  @Test
  void the_search_tries_the_option_then_MAYFLY_BINARY_then_the_class_path_then_PATH() throws IOException {
    Path variable = Programs.write(directory.resolve("variable"), "variable");
    pack(HERE, "bundled");
    Map<String, String> both = Map.of("MAYFLY_BINARY", variable.toString(), "PATH", path());
    assertEquals(named, Binary.find(named, both, bundled(HERE)));
    assertEquals(variable, Binary.find(null, both, bundled(HERE)));
    assertEquals("bundled", Files.readString(Binary.find(null, Map.of("PATH", path()), bundled(HERE))));
    assertEquals(onPath, Binary.find(null, Map.of("PATH", path()), none));
  }

  private String path() {
    return String.join(File.pathSeparator, "", "bin", directory.resolve("nowhere").toString(), onPath.getParent().toString());
  }

  @Test
  void on_Windows_the_program_on_PATH_is_mayfly_exe_and_entries_of_PATH_can_have_quotes() throws IOException {
    Path program = Programs.write(directory.resolve("Program Files").resolve("mayfly.exe"), "on PATH");
    Map<String, String> environment =
        Platform.variables(Map.of("Path", '"' + program.getParent().toString() + '"'), "windows-x86_64");
    assertEquals(program, Binary.find(null, environment, bundled("windows-x86_64")));
  }

  @Test
  void no_other_program_is_tried_if_a_configured_program_is_missing() {
    Path missing = directory.resolve("missing");
    Map<String, String> path = Map.of("PATH", path());
    assertEquals(
        "The option binary is set to " + missing
            + ", but there is no such file: correct it, or remove it to use another program.",
        refused(() -> Binary.find(missing, path, none)));
    Map<String, String> variable = Map.of("PATH", path(), "MAYFLY_BINARY", missing.toString());
    assertEquals(
        "MAYFLY_BINARY is set to " + missing
            + ", but there is no such file: correct it, or remove it to use another program.",
        refused(() -> Binary.find(null, variable, none)));
  }

  @Test
  @DisabledOnOs(value = OS.WINDOWS, disabledReason = "Windows has no permission bits for executing a file")
  void a_file_that_is_not_executable_is_rejected() throws IOException {
    Files.setPosixFilePermissions(named, PosixFilePermissions.fromString("rw-r--r--"));
    assertEquals(
        "The option binary is set to " + named + ", which is not executable: chmod +x " + named,
        refused(() -> Binary.find(named, Map.of(), bundled("linux-x86_64"))));
    assertEquals(
        "The option binary is set to " + named + ", which is not executable: check its permissions.",
        refused(() -> Binary.find(named, Map.of(), bundled("windows-x86_64"))));
  }

  @Test
  void a_configured_program_that_is_not_a_path_is_rejected() {
    String refused = refused(() -> Binary.find(null, Map.of("MAYFLY_BINARY", "may\0fly"), none));
    assertTrue(refused.startsWith("MAYFLY_BINARY is set to may\0fly, which is not a path ("), refused);
    assertTrue(refused.endsWith("): correct it. If the path is correct, set LC_ALL to a UTF-8 locale."), refused);
  }

  @Test
  void if_no_program_is_found_the_error_says_how_to_get_one() throws IOException {
    for (String platform : Platform.WITH_PROGRAM) {
      assertEquals(
          "No mayfly program found for " + platform + ": add io.github.mayfly-dynamodb:mayfly-binary:"
              + Server.packageVersion() + " with the classifier " + platform
              + " to the test class path, put mayfly on PATH, set MAYFLY_BINARY to its path, or set MAYFLY_URL to the"
              + " URL of a running server.",
          refused(() -> Binary.find(null, Map.of("PATH", "/nowhere"), bundled(platform))));
    }
  }

  @Test
  void if_the_class_path_has_programs_only_for_other_platforms_the_error_names_these() throws IOException {
    pack("linux-x86_64", "bundled");
    pack("windows-x86_64", "bundled");
    String refused = refused(() -> Binary.find(null, Map.of(), bundled("macos-arm64")));
    assertTrue(
        refused.startsWith(
            "No mayfly program found for macos-arm64 (the class path has programs for linux-x86_64, windows-x86_64): add"
                + " io.github.mayfly-dynamodb:mayfly-binary:"),
        refused);
  }

  @Test
  void on_a_platform_without_a_program_the_error_says_what_to_do() throws IOException {
    for (String platform : new String[] {"freebsd-x86_64", "windows-arm64", "linux-riscv64"}) {
      assertEquals(
          "No mayfly program found for " + platform
              + ": no release contains one. Build mayfly from source and set MAYFLY_BINARY to its path, or run the image"
              + " mayfly:" + Server.packageVersion() + " and set MAYFLY_URL to its URL.",
          refused(() -> Binary.find(null, Map.of(), bundled(platform))));
    }
  }

  @Test
  @DisabledOnOs(value = OS.WINDOWS, disabledReason = "Windows has no permission bits")
  void the_bundled_program_is_unpacked_once_and_only_for_the_current_user() throws IOException {
    BundledBinary bundled = pack(HERE, "bundled");
    Path program = bundled.extract().orElseThrow();
    assertEquals(directory.resolve("cache/mayfly"), program.getParent().getParent());
    for (Path owned : new Path[] {program, program.getParent(), program.getParent().getParent()}) {
      assertEquals("rwx------", PosixFilePermissions.toString(Files.getPosixFilePermissions(owned)));
    }
    var time = Files.getLastModifiedTime(program);
    assertEquals(Optional.of(program), bundled.extract());
    assertEquals(time, Files.getLastModifiedTime(program));
    assertEquals(List.of(program), filesIn(program.getParent()));
  }

  @Test
  void each_platforms_program_is_unpacked_under_the_name_that_its_system_expects() throws IOException {
    for (String platform : Platform.WITH_PROGRAM) {
      byte[] bytes = Programs.header(platform);
      Path program = pack(platform, bytes).extract().orElseThrow();
      assertEquals(platform.equals("windows-x86_64") ? "mayfly.exe" : "mayfly", program.getFileName().toString());
      assertEquals(Optional.of(platform), Platform.of(program));
      assertTrue(Arrays.equals(bytes, Files.readAllBytes(program)));
    }
  }

  @Test
  void the_program_can_be_unpacked_into_a_path_with_spaces_and_non_ASCII_characters() throws IOException {
    Path cache = Files.createDirectories(directory.resolve("with spaces").resolve("K\u00e4sekuchen \u6771\u4eac"));
    pack(HERE, "bundled");
    Path program = bundled(HERE, cache).extract().orElseThrow();
    assertTrue(program.startsWith(cache));
    assertEquals("bundled", Files.readString(program));
  }

  @Test
  void a_path_that_is_too_long_for_Windows_is_not_used() throws IOException {
    Path tooLong = directory.resolve("a".repeat(120)).resolve("b".repeat(120));
    pack("windows-x86_64", "bundled");
    Path program = bundled("windows-x86_64", tooLong, directory.resolve("cache")).extract().orElseThrow();
    assertTrue(program.startsWith(directory.resolve("cache")), program.toString());
    String refused = refused(() -> bundled("windows-x86_64", tooLong).extract());
    assertTrue(
        refused.contains("characters, but Windows starts only programs whose path has at most 259): set XDG_CACHE_HOME to"),
        refused);
  }

  @Test
  void an_unpacked_program_of_the_wrong_length_is_replaced() throws IOException {
    BundledBinary bundled = pack(HERE, "bundled");
    Files.writeString(bundled.extract().orElseThrow(), "cut");
    assertEquals("bundled", Files.readString(bundled.extract().orElseThrow()));
  }

  @Test
  void an_unpacked_program_with_the_wrong_bytes_is_replaced() throws IOException {
    BundledBinary bundled = pack(HERE, "bundled");
    Files.writeString(bundled.extract().orElseThrow(), "bumbled");
    assertEquals("bundled", Files.readString(bundled.extract().orElseThrow()));
  }

  @Test
  void a_damaged_program_in_the_jar_is_rejected_with_the_jars_path() throws IOException {
    BundledBinary bundled = pack(HERE, "bundled");
    Path resource = directory.resolve("class path").resolve(CLASSES).resolve(HERE).resolve(NAME);
    Map<String, String> reasons =
        Map.of(
            "bumbled", "its SHA-256 is " + sha256("bumbled") + ", expected " + sha256("bundled"),
            "cut", "it has 3 bytes, expected 7",
            "bundled and more", "it has more than 7 bytes");
    for (var each : reasons.entrySet()) {
      Files.writeString(resource, each.getKey());
      String refused = refused(bundled::extract);
      assertTrue(refused.startsWith("The mayfly program in "), refused);
      assertTrue(
          refused.endsWith(
              " is damaged (" + each.getValue()
                  + "): delete this file, so that your build downloads it again, or set MAYFLY_BINARY to another mayfly"
                  + " program."),
          refused);
      assertEquals(List.of(), filesIn(directory.resolve("cache/mayfly").resolve(sha256("bundled"))));
    }
  }

  @Test
  void a_jar_whose_checksum_or_program_is_missing_is_damaged() throws IOException {
    BundledBinary bundled = pack(HERE, "bundled");
    Path resources = directory.resolve("class path").resolve(CLASSES).resolve(HERE);
    for (String facts : new String[] {"", "sha256=../../up\nbytes=7\n", "sha256=" + "0".repeat(64) + "\nbytes=x\n"}) {
      Files.writeString(resources.resolve("mayfly.properties"), facts);
      String refused = refused(bundled::extract);
      assertTrue(refused.contains(" is damaged (mayfly.properties "), refused);
    }
    pack(HERE, "bundled");
    Files.delete(resources.resolve(NAME));
    String refused = refused(bundled::extract);
    assertTrue(refused.contains(" is damaged (" + CLASSES + HERE + "/" + NAME + " is missing): "), refused);
  }

  @Test
  void a_jar_with_damaged_compressed_data_is_rejected_with_its_path() throws IOException {
    byte[] program = new byte[100_000];
    new java.util.Random(1).nextBytes(program);
    Path jar = jar(program);
    byte[] bytes = Files.readAllBytes(jar);
    Arrays.fill(bytes, 50_000, 50_100, (byte) 0);
    Files.write(jar, bytes);
    try (URLClassLoader loader = loader(jar)) {
      BundledBinary bundled = new BundledBinary(loader, List.of(directory.resolve("cache/mayfly")), HERE);
      String refused = refused(bundled::extract);
      assertTrue(refused.startsWith("The mayfly program in " + jar + " is damaged ("), refused);
    }
  }

  /** Returns a jar that has the same files as a jar mayfly-binary-…. */
  private Path jar(byte[] program) throws IOException {
    Path jar = directory.resolve("a mayfly-binary.jar");
    try (OutputStream file = Files.newOutputStream(jar);
        JarOutputStream out = new JarOutputStream(file)) {
      out.putNextEntry(new JarEntry(CLASSES + HERE + "/" + NAME));
      out.write(program);
      out.putNextEntry(new JarEntry(CLASSES + HERE + "/mayfly.properties"));
      out.write(facts(program).getBytes());
    }
    return jar;
  }

  @Test
  void the_program_is_unpacked_from_a_jar() throws IOException {
    Path jar = jar("bundled".getBytes());
    try (URLClassLoader loader = loader(jar)) {
      var bundled = new BundledBinary(loader, List.of(directory.resolve("cache/mayfly")), HERE);
      assertEquals(List.of(HERE), bundled.platformsOnClassPath());
      assertEquals("bundled", Files.readString(bundled.extract().orElseThrow()));
    }
  }

  @Test
  void the_program_is_unpacked_into_the_next_directory_if_the_first_is_not_usable() throws IOException {
    Files.writeString(directory.resolve("a file"), "not a directory");
    pack(HERE, "bundled");
    Path program =
        bundled(HERE, directory.resolve("a file"), directory.resolve("temporary")).extract().orElseThrow();
    assertTrue(program.startsWith(directory.resolve("temporary")));
    assertEquals("bundled", Files.readString(program));
  }

  @Test
  void if_no_directory_is_usable_the_error_says_why_and_names_the_variables() throws IOException {
    Path file = Files.writeString(directory.resolve("a file"), "not a directory");
    pack(HERE, "bundled");
    String refused = refused(() -> bundled(HERE, file, file).extract());
    assertTrue(refused.startsWith("Cannot unpack mayfly from its jar ("), refused);
    assertTrue(refused.contains(file.toString()), refused);
    assertTrue(
        refused.endsWith(
            "): set XDG_CACHE_HOME to a directory in which files can be created and programs can run, or set"
                + " MAYFLY_BINARY to an unpacked program."),
        refused);
    refused = refused(() -> new BundledBinary(classPath(), List.of(), HERE).extract());
    assertTrue(refused.startsWith("Cannot unpack mayfly from its jar (there is no cache directory): "), refused);
  }

  @Test
  @DisabledOnOs(value = OS.WINDOWS, disabledReason = "creating a link needs a privilege on Windows")
  void a_link_cannot_replace_the_directory_of_the_program() throws IOException {
    pack(HERE, "bundled");
    Path elsewhere = Files.createDirectory(directory.resolve("elsewhere"));
    Path cache = Files.createDirectory(directory.resolve("cache"));
    Files.createSymbolicLink(cache.resolve("mayfly"), elsewhere);
    String refused = refused(() -> bundled("linux-x86_64", cache).extract());
    assertFalse(Files.exists(elsewhere.resolve(sha256("bundled"))), refused);
  }

  @Test
  @DisabledOnOs(value = OS.WINDOWS, disabledReason = "creating a link needs a privilege on Windows")
  void the_users_cache_can_be_a_link_to_a_directory() throws IOException {
    Path elsewhere = Files.createDirectory(directory.resolve("elsewhere"));
    Files.createSymbolicLink(directory.resolve("link"), elsewhere);
    pack(HERE, "bundled");
    bundled(HERE, directory.resolve("link")).extract().orElseThrow();
    assertTrue(Files.isDirectory(elsewhere.resolve("mayfly")));
  }

  @Test
  @DisabledOnOs(value = OS.WINDOWS, disabledReason = "the program checks owners only on Linux and macOS")
  void the_owner_of_a_new_file_is_the_current_user() throws IOException {
    assertEquals(Files.getOwner(named), BundledBinary.ownerOfNewFile());
  }

  // On Linux, a directory of the same name makes the move fail as a locked file does on Windows.
  @Test
  void a_program_that_is_locked_for_a_moment_is_replaced_on_Windows() throws Exception {
    pack("windows-x86_64", "bundled");
    Path place = directory.resolve("cache/mayfly").resolve(sha256("bundled"));
    Path obstacle = Files.createDirectories(place.resolve("mayfly.exe").resolve("locked"));
    BundledBinary bundled = locked(Duration.ofSeconds(60));
    CompletableFuture<Optional<Path>> extracted = CompletableFuture.supplyAsync(bundled::extract);
    Await.until(() -> filesIn(place).size() == 2); // the obstacle and the new file
    Files.delete(obstacle);
    Files.delete(obstacle.getParent());
    assertEquals("bundled", Files.readString(extracted.get().orElseThrow()));
  }

  @Test
  void a_program_that_stays_locked_is_reported_with_its_path_and_the_likely_reason() throws IOException {
    pack("windows-x86_64", "bundled");
    Path program = directory.resolve("cache/mayfly").resolve(sha256("bundled")).resolve("mayfly.exe");
    Files.createDirectories(program.resolve("locked"));
    String refused = refused(() -> locked(Duration.ZERO).extract());
    assertTrue(
        refused.startsWith(
            "Cannot unpack mayfly from its jar (" + program
                + " is locked, probably by a virus scanner or by a program that runs it ("),
        refused);
    assertEquals(List.of(program), filesIn(program.getParent()));
  }

  private BundledBinary locked(Duration patience) throws IOException {
    return new BundledBinary(classPath(), List.of(directory.resolve("cache/mayfly")), "windows-x86_64", patience);
  }

  /** Adds a program to the class path, and returns the program. */
  private BundledBinary pack(String platform, String text) throws IOException {
    return pack(platform, text.getBytes());
  }

  private BundledBinary pack(String platform, byte[] bytes) throws IOException {
    Path resources = directory.resolve("class path").resolve(CLASSES).resolve(platform);
    Programs.write(resources.resolve(Platform.programName(platform)), bytes);
    Files.writeString(resources.resolve("mayfly.properties"), facts(bytes));
    return bundled(platform);
  }

  private static String facts(byte[] program) {
    return "sha256=" + sha256(program) + "\nbytes=" + program.length + "\n";
  }

  private static String sha256(String text) {
    return sha256(text.getBytes());
  }

  private static String sha256(byte[] bytes) {
    try {
      return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes));
    } catch (NoSuchAlgorithmException everyJvmHasIt) {
      throw new AssertionError(everyJvmHasIt);
    }
  }

  private BundledBinary bundled(String platform, Path... caches) throws IOException {
    List<Path> directories =
        caches.length == 0
            ? List.of(directory.resolve("cache").resolve("mayfly"))
            : Arrays.stream(caches).map(cache -> cache.resolve("mayfly")).toList();
    return new BundledBinary(classPath(), directories, platform);
  }

  private ClassLoader classPath() throws IOException {
    return loader(Files.createDirectories(directory.resolve("class path")));
  }

  private static URLClassLoader loader(Path root) throws IOException {
    return new URLClassLoader(new URL[] {root.toUri().toURL()}, null);
  }

  private static List<Path> filesIn(Path directory) {
    try (var files = Files.list(directory)) {
      return files.toList();
    } catch (IOException missing) {
      return List.of();
    }
  }

  private static String refused(org.junit.jupiter.api.function.Executable call) {
    return assertThrows(MayflyException.class, call).getMessage();
  }
}

package io.github.mayflydynamodb;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

class LaunchTest {
  @TempDir Path directory;

  // Linux says "Text file busy" for a program that another process has open for writing.
  @Test
  @EnabledOnOs(value = OS.LINUX, disabledReason = "the other systems start a program that is open for writing")
  void a_start_is_repeated_while_the_programs_file_is_busy() throws Exception {
    Path program = Files.copy(Fixture.BINARY, directory.resolve("program"));
    assertTrue(program.toFile().setExecutable(true));
    CompletableFuture<Process> started = new CompletableFuture<>();
    try (OutputStream writer = Files.newOutputStream(program, java.nio.file.StandardOpenOption.APPEND)) {
      IOException busy = assertThrows(IOException.class, () -> new ProcessBuilder(program.toString()).start());
      assertTrue(Launch.isBusy(busy.getMessage(), "linux-x86_64"), busy.getMessage());
      Thread starts =
          Daemon.start(
              "starts", () -> started.complete(Launch.start(program, List.of(program.toString(), "--version"))));
      Await.until(() -> starts.getState() == Thread.State.TIMED_WAITING); // before the next attempt
    }
    assertEquals(0, started.get().waitFor());
  }

  @Test
  void a_start_is_repeated_on_Windows_while_a_virus_scanner_locks_the_program() {
    for (int error : new int[] {5, 32}) {
      assertTrue(Launch.isBusy(cannotRun(error), "windows-x86_64"));
      assertFalse(Launch.isBusy(cannotRun(error), "linux-x86_64"));
    }
    assertTrue(Launch.isBusy("Exec failed, error: 26 (Text file busy)", "macos-arm64"));
    assertFalse(Launch.isBusy(cannotRun(193), "windows-x86_64"));
    assertFalse(Launch.isBusy(null, "windows-x86_64"));
  }

  @Test
  void the_error_for_a_locked_program_names_the_file_and_the_virus_scanner() throws IOException {
    Path program = Programs.write(directory.resolve("mayfly.exe"), Programs.header("windows-x86_64"));
    for (int error : new int[] {5, 32, 225}) {
      assertEquals(
          "Cannot start " + program + " (" + cannotRun(error)
              + "): a virus scanner probably holds or blocks the file: exclude its directory from scans, or set"
              + " MAYFLY_BINARY to a program in an excluded directory.",
          Launch.sentence(program, cannotRun(error), "windows-x86_64"));
    }
    assertEquals(
        "Cannot start " + program + " (" + cannotRun(206)
            + "): set MAYFLY_BINARY to a program that Windows can start.",
        Launch.sentence(program, cannotRun(206), "windows-x86_64"));
  }

  @Test
  void the_error_for_a_program_for_another_platform_names_both_platforms() throws IOException {
    for (String platform : Platform.WITH_PROGRAM) {
      Path program = Programs.write(directory.resolve(platform), Programs.header(platform));
      for (String here : Platform.WITH_PROGRAM) {
        Optional<String> sentence =
            here.equals(platform) || here.startsWith("macos-") && platform.startsWith("macos-") // Rosetta
                ? Optional.empty()
                : Optional.of(
                    program + " is a program for " + platform + ", not for " + here
                        + ": set MAYFLY_BINARY to a mayfly program for this machine.");
        assertEquals(sentence, Launch.otherPlatform(program, here));
      }
      assertEquals(Optional.empty(), Launch.otherPlatform(program, "freebsd-x86_64"));
    }
  }

  @Test
  void the_error_for_a_program_that_macOS_kills_says_how_to_sign_it() throws IOException {
    Path program = Programs.write(directory.resolve("mayfly"), Programs.header("macos-arm64"));
    assertEquals(
        "mayfly was killed by SIGKILL before it was ready. macOS kills a program whose signature is invalid: in that"
            + " case, sign it with codesign --force --sign - " + program + ".",
        Launch.ended(program, 137, "macos-arm64"));
    assertEquals("mayfly exited with status 1 before it was ready.", Launch.ended(program, 1, "macos-arm64"));
  }

  @Test
  void a_program_that_cannot_be_started_is_reported_with_the_systems_reason() {
    Path missing = directory.resolve("missing");
    String sentence =
        assertThrows(MayflyException.class, () -> Launch.start(missing, List.of(missing.toString()))).getMessage();
    assertTrue(sentence.startsWith("Cannot start " + missing + " ("), sentence);
  }

  @Test
  void an_ending_is_described_as_the_system_reports_it() {
    assertEquals("exited with status 3", Ending.of(3, "linux-x86_64"));
    assertEquals("was killed by SIGKILL", Ending.of(137, "linux-x86_64"));
    assertEquals("was killed by SIGBUS", Ending.of(128 + 7, "linux-arm64"));
    assertEquals("was killed by SIGBUS", Ending.of(128 + 10, "macos-arm64"));
    assertEquals("exited with status 138", Ending.of(128 + 10, "linux-x86_64"));
    assertEquals("exited with status 137", Ending.of(137, "windows-x86_64"));
    assertEquals("exited with status 0xC0000005", Ending.of(0xC0000005, "windows-x86_64"));
  }

  private static String cannotRun(int error) {
    return "Cannot run program \"mayfly.exe\": CreateProcess error=" + error + ", reason";
  }
}

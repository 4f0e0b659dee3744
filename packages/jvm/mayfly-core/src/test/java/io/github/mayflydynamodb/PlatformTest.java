package io.github.mayflydynamodb;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PlatformTest {
  @TempDir Path directory;

  @Test
  void platform_names_match_the_classifiers_of_the_jars() {
    assertEquals("linux-x86_64", Platform.name("Linux", "amd64"));
    assertEquals("linux-arm64", Platform.name("Linux", "aarch64"));
    assertEquals("macos-arm64", Platform.name("Mac OS X", "aarch64"));
    assertEquals("macos-x86_64", Platform.name("Mac OS X", "x86_64"));
    assertEquals("windows-x86_64", Platform.name("Windows Server 2022", "amd64"));
    assertEquals("freebsd-x86_64", Platform.name("FreeBSD", "amd64"));
  }

  @Test
  void the_bytes_of_a_program_tell_its_platform() throws IOException {
    for (String platform : Platform.WITH_PROGRAM) {
      assertEquals(Optional.of(platform), platformOf(Programs.header(platform)));
    }
    for (String platform : new String[] {"linux-riscv64", "windows-arm64"}) {
      assertEquals(Optional.of("another kind of machine"), platformOf(Programs.header(platform)));
    }
  }

  @Test
  void the_program_of_the_tests_is_for_this_platform() {
    assertEquals(Optional.of(Platform.current()), Platform.of(Fixture.BINARY));
  }

  @Test
  void files_that_are_not_complete_programs_are_tolerated() throws IOException {
    assertEquals(Optional.empty(), platformOf("#!/bin/sh\n".getBytes()));
    assertEquals(Optional.empty(), Platform.of(directory.resolve("missing")));
    for (String platform : Platform.WITH_PROGRAM) {
      byte[] header = Programs.header(platform);
      for (int length = 0; length < header.length; ++length) {
        Optional<String> found = platformOf(Arrays.copyOf(header, length));
        assertEquals(false, found.filter(one -> !one.equals(platform) && !one.startsWith("another")).isPresent());
      }
    }
    byte[] beyondTheEnd = Programs.header("windows-x86_64");
    Arrays.fill(beyondTheEnd, 60, 64, (byte) 0xff);
    assertEquals(Optional.of("another kind of machine"), platformOf(beyondTheEnd));
  }

  @Test
  void names_of_environment_variables_are_not_case_sensitive_on_Windows() {
    Map<String, String> environment = Map.of("Path", "somewhere");
    assertEquals("somewhere", Platform.variables(environment, "windows-x86_64").get("PATH"));
    assertNull(Platform.variables(environment, "linux-x86_64").get("PATH"));
  }

  private Optional<String> platformOf(byte[] bytes) throws IOException {
    return Platform.of(Programs.write(directory.resolve("program"), bytes));
  }
}

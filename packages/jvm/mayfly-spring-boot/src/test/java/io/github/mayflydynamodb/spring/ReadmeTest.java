package io.github.mayflydynamodb.spring;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/**
 * Checks that each example of README.md and of the tutorial is part of a test. This class is in the last module,
 * which can read the files of all other modules.
 */
class ReadmeTest {
  private static final Path ROOT = Path.of("..");
  private static final Path README = ROOT.resolve("README.md");
  private static final Path TUTORIAL = ROOT.resolve("../../docs/tutorial/java.md");

  @Test
  void every_Java_example_in_the_README_is_part_of_a_test() throws IOException {
    List<String> examples = blocks(README, "java");
    assertThat(examples).hasSizeGreaterThan(8);
    List<String> tests = tests();
    assertThat(examples).allSatisfy(example -> assertThat(tests).anyMatch(test -> test.contains(example)));
  }

  @Test
  void every_class_in_the_tutorial_is_part_of_a_test() throws IOException {
    List<String> examples = blocks(TUTORIAL, "java");
    assertThat(examples).hasSize(5);
    List<String> tests = tests();
    assertThat(examples).allSatisfy(example -> assertThat(tests).anyMatch(test -> test.contains(example)));
    assertThat(read(ROOT.resolve("mayfly-junit5/src/test/resources/junit-platform.properties")))
        .contains(String.join("", blocks(TUTORIAL, "properties")));
  }

  @Test
  void the_README_has_the_coordinates_of_the_module_for_JUnit() throws IOException {
    String install = String.join("", blocks(README, "xml"));
    assertThat(install).contains("<groupId>io.github.mayfly-dynamodb</groupId>");
    assertThat(install).contains("<artifactId>mayfly-junit5</artifactId>");
    assertThat(ROOT.resolve("mayfly-junit5/pom.xml")).content().contains("<artifactId>mayfly-junit5</artifactId>");
  }

  private static List<String> blocks(Path page, String language) {
    return Pattern.compile("^```" + language + "\n(.*?)^```$", Pattern.MULTILINE | Pattern.DOTALL)
        .matcher(read(page))
        .results()
        .map((MatchResult match) -> match.group(1))
        .toList();
  }

  private static List<String> tests() throws IOException {
    try (var files = Files.walk(ROOT)) {
      return files
          .filter(file -> file.toString().replace('\\', '/').contains("/src/test/") && file.toString().endsWith(".java"))
          .map(ReadmeTest::read)
          .toList();
    }
  }

  private static String read(Path file) {
    try {
      return Files.readString(file).replace("\r\n", "\n"); // Git can write CRLF on Windows.
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }
}

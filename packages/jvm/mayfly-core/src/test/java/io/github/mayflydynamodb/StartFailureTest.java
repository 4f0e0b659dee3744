package io.github.mayflydynamodb;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;

@DisplayName("Errors of a failed start")
class StartFailureTest {
  private static final String SHELL = "the program of this test is a shell script";

  @TempDir Path directory;

  @Test
  @DisabledOnOs(value = OS.WINDOWS, disabledReason = SHELL)
  void a_server_that_exits_before_it_answers_is_reported_with_status_and_log() throws IOException {
    Path program = script("echo one >&2; echo two >&2; exit 3");
    assertEquals(
        "mayfly exited with status 3 before it was ready. Its log:\none\ntwo\n",
        refused(ServerOptions.defaults().binary(program)));
    assertEquals(
        "mayfly exited with status 4 before it was ready. Its log is empty.",
        refused(ServerOptions.defaults().binary(script("exit 4"))));
  }

  @Test
  void a_port_in_use_is_reported() throws IOException {
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      String port = Integer.toString(taken.getLocalPort());
      String sentence = refused(ServerOptions.defaults().binary(Fixture.BINARY).arguments("--port", port));
      assertTrue(sentence.startsWith("mayfly exited with status 1 before it was ready. Its log:\n"), sentence);
      assertTrue(sentence.contains(port), sentence);
    }
  }

  @Test
  void an_unknown_option_is_reported() {
    String sentence = refused(ServerOptions.defaults().binary(Fixture.BINARY).arguments("--no-such"));
    assertTrue(sentence.startsWith("mayfly exited with status "), sentence);
    assertTrue(sentence.contains("--no-such"), sentence);
  }

  @Test
  @DisabledOnOs(value = OS.WINDOWS, disabledReason = SHELL)
  void a_server_that_does_not_answer_in_time_is_stopped_and_reported_with_its_log() throws IOException {
    Path program = script("echo \"I take my time\" >&2; echo $$ > " + directory + "/pid; exec sleep 60");
    String sentence = refused(ServerOptions.defaults().binary(program).startTimeout(Duration.ofMillis(500)));
    assertEquals(
        "mayfly did not answer within 0.5 s and was stopped. To wait longer, raise startTimeout. Its log:\n"
            + "I take my time\n",
        sentence);
    long pid = Long.parseLong(Files.readString(directory.resolve("pid")).strip());
    assertTrue(ProcessHandle.of(pid).map(process -> !process.isAlive()).orElse(true));
  }

  @Test
  @DisabledOnOs(value = OS.WINDOWS, disabledReason = SHELL)
  void a_call_to_a_server_that_has_exited_reports_its_status_and_log() throws IOException {
    // Another server answers the health check, so that the start succeeds.
    try (HttpServerUntilClosed other =
            new HttpServerUntilClosed(answering("{\"version\":\"" + Server.packageVersion() + "\"}"));
        Server server =
            Server.start(
                ServerOptions.defaults()
                    .binary(
                        script(
                            "echo mayfly listening on " + other.url() + "; while [ ! -e " + directory
                                + "/end ]; do :; done; echo 'out of patience' >&2; exit 7")),
                Map.of());
        World world = server.world()) {
      assertFalse(server.hasDied());
      Files.createFile(directory.resolve("end"));
      Await.until(() -> !ProcessHandle.of(server.pid().getAsLong()).map(ProcessHandle::isAlive).orElse(false));
      other.close();
      assertEquals(
          "Mayfly's server exited with status 7 before it answered GET /_mayfly/clock. Its log:\n  out of patience",
          assertThrows(MayflyException.class, () -> world.clock().now()).getMessage());
      assertTrue(server.hasDied());
    }
  }

  private record HttpServerUntilClosed(HttpServer server) implements AutoCloseable {
    String url() {
      return "http://127.0.0.1:" + server.getAddress().getPort();
    }

    @Override
    public void close() {
      server.stop(0);
    }
  }

  @Test
  @DisabledOnOs(value = OS.WINDOWS, disabledReason = SHELL)
  void a_program_that_prints_an_unexpected_first_line_is_rejected() throws IOException {
    Path program = script("echo hello");
    assertEquals(
        program + " is not Mayfly: its first line is \"hello\". Set MAYFLY_BINARY to a mayfly program.",
        refused(ServerOptions.defaults().binary(program)));
  }

  @Test
  @DisabledOnOs(value = OS.WINDOWS, disabledReason = SHELL)
  void a_server_that_writes_CRLF_is_understood() throws IOException {
    HttpServer other = answering("{\"version\":\"" + Server.packageVersion() + "\"}");
    String url = "http://127.0.0.1:" + other.getAddress().getPort();
    Path program = script("printf 'a line\\r\\n' >&2; printf 'mayfly listening on " + url + "\\r\\n'; exec sleep 60");
    try (Server server = Server.start(ServerOptions.defaults().binary(program), Map.of())) {
      assertEquals(URI.create(url), server.url());
      assertEquals("a line\n", server.log());
    } finally {
      other.stop(0);
    }
  }

  @Test
  @DisabledOnOs(value = OS.WINDOWS, disabledReason = SHELL)
  void a_program_can_be_in_a_path_with_spaces_and_non_ASCII_characters() throws IOException {
    Path program = Programs.write(directory.resolve("K\u00e4se \u6771\u4eac").resolve("may fly"), "#!/bin/sh\nexit 3\n");
    assertEquals(
        "mayfly exited with status 3 before it was ready. Its log is empty.",
        refused(ServerOptions.defaults().binary(program)));
  }

  @Test
  void a_binary_for_another_platform_is_rejected() throws IOException {
    String here = Platform.current();
    for (String other : Platform.WITH_PROGRAM) {
      if (!Platform.canRun(other, here)) {
        Path program = program(Programs.header(other));
        assertEquals(
            program + " is a program for " + other + ", not for " + here
                + ": set MAYFLY_BINARY to a mayfly program for this machine.",
            refused(ServerOptions.defaults().binary(program)));
      }
    }
  }

  @Test
  void the_error_for_a_server_of_another_minor_version_names_both_versions() throws IOException {
    HttpServer other = answering("{\"status\":\"ok\",\"version\":\"99.7.1\"}");
    try {
      URI url = URI.create("http://127.0.0.1:" + other.getAddress().getPort());
      assertEquals(
          "Package version " + Server.packageVersion() + " cannot use the server at " + url
              + ", which is version 99.7.1: use a server and a package with the same major and minor version.",
          refused(ServerOptions.defaults().url(url)));
    } finally {
      other.stop(0);
    }
  }

  @Test
  void a_server_of_another_patch_version_is_accepted() throws IOException {
    String[] parts = Server.packageVersion().split("\\.");
    HttpServer other = answering("{\"status\":\"ok\",\"version\":\"" + parts[0] + "." + parts[1] + ".999\"}");
    try {
      Server server =
          Server.start(
              ServerOptions.defaults().url(URI.create("http://127.0.0.1:" + other.getAddress().getPort())),
              Map.of());
      assertEquals(parts[0] + "." + parts[1] + ".999", server.version());
      server.close();
    } finally {
      other.stop(0);
    }
  }

  @Test
  void a_URL_where_another_program_answers_is_reported() throws IOException {
    HttpServer other = answering("<html>");
    try {
      URI url = URI.create("http://127.0.0.1:" + other.getAddress().getPort());
      assertEquals(
          "No Mayfly server answers at " + url
              + " (/_mayfly/health returned HTTP status 200 and no version). Correct MAYFLY_URL.",
          refused(ServerOptions.defaults().url(url)));
    } finally {
      other.stop(0);
    }
  }

  @Test
  void a_URL_where_no_server_answers_is_reported() throws IOException {
    int free;
    try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
      free = socket.getLocalPort();
    }
    String sentence = refused(ServerOptions.defaults().url(URI.create("http://127.0.0.1:" + free)));
    assertTrue(
        sentence.startsWith("The server at http://127.0.0.1:" + free + " did not answer GET /_mayfly/health: "), sentence);
    assertTrue(
        sentence.endsWith(". Start Mayfly there, or unset MAYFLY_URL to let the package start a server."), sentence);
  }

  @Test
  void a_malformed_URL_is_rejected() {
    MayflyException refused =
        assertThrows(
            MayflyException.class,
            () -> Server.start(ServerOptions.defaults(), Map.of("MAYFLY_URL", "localhost:8000")));
    assertEquals("MAYFLY_URL must be a URL such as http://127.0.0.1:8000, got \"localhost:8000\".", refused.getMessage());
  }

  private Path script(String text) throws IOException {
    return program(("#!/bin/sh\n" + text + "\n").getBytes(StandardCharsets.UTF_8));
  }

  private Path program(byte[] bytes) throws IOException {
    return Programs.write(Files.createTempFile(directory, "program", ".exe"), bytes);
  }

  private static HttpServer answering(String body) throws IOException {
    HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.createContext(
        "/",
        exchange -> {
          byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
          exchange.sendResponseHeaders(200, bytes.length);
          exchange.getResponseBody().write(bytes);
          exchange.close();
        });
    server.start();
    return server;
  }

  private static String refused(ServerOptions options) {
    return assertThrows(MayflyException.class, () -> Server.start(options, Map.of())).getMessage();
  }
}

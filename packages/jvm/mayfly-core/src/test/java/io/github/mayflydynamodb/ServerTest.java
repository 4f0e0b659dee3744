package io.github.mayflydynamodb;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.time.Duration;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.function.Executable;

class ServerTest {
  private static final ServerOptions OPTIONS = ServerOptions.defaults().binary(Fixture.BINARY);

  @Test
  void a_server_starts_on_a_free_port_and_exits_on_close() {
    Server server = Server.start(OPTIONS);
    assertEquals("http", server.url().getScheme());
    assertEquals(System.getProperty("mayfly.test.version"), server.version());
    ProcessHandle process = ProcessHandle.of(server.pid().getAsLong()).orElseThrow();
    assertTrue(process.isAlive());
    server.close();
    assertFalse(process.isAlive());
  }

  @Test
  void the_package_reports_the_version_that_it_was_built_with() {
    assertEquals(System.getProperty("mayfly.test.version"), Server.packageVersion());
  }

  @Test
  void arguments_are_passed_to_the_server() {
    try (Server server = Server.start(OPTIONS.arguments("--clock", "frozen", "--accounts-max", "1"));
        World world = server.world()) {
      assertEquals("frozen", world.control("GET", "/clock", null).get("mode"));
      try (World second = server.world()) {
        ControlException refused = assertThrows(ControlException.class, second::snapshot);
        assertTrue(refused.getMessage().endsWith("set by --accounts-max)."), refused.getMessage());
      }
    }
  }

  @Test
  void a_servers_log_can_be_read_from_a_position() {
    try (Server server = Server.start(OPTIONS.arguments("--log-level", "debug"));
        World world = server.world()) {
      Await.until(() -> server.log().contains("GET /_mayfly/health"));
      long mark = server.logMark();
      world.clock().freeze(Fixture.START);
      Await.until(() -> server.logSince(mark).contains("PUT /_mayfly/clock"));
      assertFalse(server.logSince(mark).contains("GET /_mayfly/health"));
      assertTrue(server.log().contains("GET /_mayfly/health"), server.log());
    }
  }

  @Test
  void an_existing_server_is_used_and_keeps_running() {
    try (Server running = Server.start(OPTIONS)) {
      Map<String, String> environment = Map.of("MAYFLY_URL", running.url() + "/", "MAYFLY_BINARY", "/nowhere");
      Server named = Server.start(ServerOptions.defaults(), environment);
      assertEquals(running.url(), named.url());
      assertEquals(OptionalLong.empty(), named.pid());
      assertEquals("", named.log());
      named.close();
      Server option = Server.start(ServerOptions.defaults().url(running.url()), Map.of());
      try (World world = option.world()) {
        assertEquals("real", world.control("GET", "/clock", null).get("mode"));
      }
      option.close();
    }
  }

  @Test
  void a_call_to_a_dead_server_reports_how_the_server_ended_and_its_log() {
    Server server = Server.start(OPTIONS);
    World world = server.world();
    world.createTable(Table.named("carts"));
    world.dynamoDbAsync().listTables().join();
    assertFalse(server.hasDied());
    ProcessHandle.of(server.pid().getAsLong()).orElseThrow().destroyForcibly();
    assertDied("ListTables", () -> world.dynamoDb().listTables());
    assertDied("ListStreams", () -> world.dynamoDbStreams().listStreams());
    assertDied("POST /_mayfly/snapshots", world::snapshot);
    assertTrue(server.hasDied());
    world.close();
    server.close();
  }

  private static void assertDied(String request, Executable call) {
    RuntimeException died = assertThrows(RuntimeException.class, call);
    String ended = OS.WINDOWS.isCurrentOs() ? "exited with status 1" : "was killed by SIGKILL";
    assertTrue(
        died.getMessage()
            .matches(
                "Mayfly's server " + ended + " before it answered " + request
                    + "\\. Its log:\n  \\S+ info mayfly .* keeps everything in memory(\n  [^\n]*)*"),
        died.getMessage());
  }

  @Test
  void a_call_to_a_dead_external_server_names_its_URL() {
    Server owned = Server.start(OPTIONS);
    Server attached = Server.start(ServerOptions.defaults().url(owned.url()));
    World world = attached.world();
    owned.close();
    MayflyException missed = assertThrows(MayflyException.class, world::snapshot);
    assertTrue(
        missed.getMessage().startsWith("The server at " + owned.url() + " did not answer POST /_mayfly/snapshots: "),
        missed.getMessage());
    assertTrue(missed.getMessage().endsWith(". Check that the server is running."), missed.getMessage());
    assertFalse(attached.hasDied());
    world.close();
    attached.close();
  }

  @Test
  void a_server_exits_when_its_JVM_is_killed() throws Exception {
    Process jvm =
        new ProcessBuilder(
                ProcessHandle.current().info().command().orElseThrow(),
                "-cp",
                System.getProperty("java.class.path"),
                Victim.class.getName(),
                Fixture.BINARY.toString())
            .redirectError(ProcessBuilder.Redirect.INHERIT)
            .start();
    URI url;
    try (var out = new BufferedReader(new InputStreamReader(jvm.getInputStream()))) {
      url = URI.create(out.readLine());
      assertTrue(answers(url));
    } finally {
      jvm.destroyForcibly();
    }
    assertTrue(jvm.waitFor(10, TimeUnit.SECONDS));
    Await.until(() -> !answers(url));
  }

  /** Starts a server, prints its URL, and waits to be killed. */
  static final class Victim {
    public static void main(String[] arguments) throws InterruptedException {
      Server server = Server.start(ServerOptions.defaults().binary(java.nio.file.Path.of(arguments[0])));
      System.out.println(server.url());
      Thread.sleep(Duration.ofMinutes(5).toMillis());
    }
  }

  private static boolean answers(URI url) {
    try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), url.getPort())) {
      return socket.isConnected();
    } catch (ConnectException refused) {
      return false;
    } catch (java.io.IOException failed) {
      throw new AssertionError(failed);
    }
  }
}

package io.github.mayflydynamodb;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledOnOs;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

@DisabledOnOs(value = OS.WINDOWS, disabledReason = "the programs of these tests are shell scripts")
class ServerLogTest {
  private static Process start(String script) throws Exception {
    return new ProcessBuilder("sh", "-c", script).start();
  }

  @Test
  @EnabledOnOs(value = OS.LINUX, disabledReason = "only Linux lets a process write to another process's pipe")
  void a_log_contains_every_line_that_was_written_before_the_read() throws Exception {
    Process process = start("while read -r line; do echo \"$line\" >&2; echo written; done");
    ServerLog log = new ServerLog();
    Thread reader = log.follow(process);
    try (BufferedWriter lines = process.outputWriter();
        BufferedReader answers = process.inputReader()) {
      for (int number = 1; number <= 200; ++number) {
        lines.write("line " + number + "\n");
        lines.flush();
        assertEquals("written", answers.readLine());
        assertEquals("line " + number + "\n", log.tail(1));
      }
      assertEquals(200, log.mark());
    }
    assertTrue(process.waitFor(10, TimeUnit.SECONDS));
    reader.join(10_000);
    assertTrue(log.since(0).endsWith("line 200\n"));
  }

  @Test
  void on_a_system_without_proc_a_log_contains_the_lines_that_were_written_before_the_read() throws Exception {
    Process process = start("while read -r line; do echo \"$line\" >&2; echo written; done; echo end >&2");
    ServerLog log = new ServerLog(Path.of("/no/such/directory"));
    Thread reader = log.follow(process);
    try (BufferedWriter lines = process.outputWriter();
        BufferedReader answers = process.inputReader()) {
      for (int number = 1; number <= 20; ++number) {
        lines.write("line " + number + "\n");
        lines.flush();
        assertEquals("written", answers.readLine());
        assertEquals("line " + number + "\n", log.tail(1));
        assertTrue(log.since(0).endsWith("line " + number + "\n"));
      }
      assertEquals(20, log.mark());
    }
    assertTrue(process.waitFor(10, TimeUnit.SECONDS));
    reader.join(10_000);
    assertEquals("line 20\nend\n", log.tail(2));
    assertEquals("end\n", log.since(20));
  }

  @Test
  @EnabledOnOs(value = OS.LINUX, disabledReason = "only Linux lets a process write to another process's pipe")
  void a_mark_written_to_the_pipe_is_not_part_of_the_log() throws Exception {
    Process process = start("printf half >&2; echo written; read -r line; echo ' line' >&2; echo written; read -r line");
    ServerLog log = new ServerLog();
    log.follow(process);
    try (BufferedWriter lines = process.outputWriter();
        BufferedReader answers = process.inputReader()) {
      assertEquals("written", answers.readLine());
      assertEquals("half\n", log.since(0));
      lines.write("\n");
      lines.flush();
      assertEquals("written", answers.readLine());
      assertEquals("half\n line\n", log.since(0));
    }
  }

  @Test
  void the_thread_that_reads_a_log_ends_when_the_process_exits() throws Exception {
    Process process = start("echo 'the last line' >&2; exit 3");
    ServerLog log = new ServerLog();
    Thread reader = log.follow(process);
    reader.join(10_000);
    assertEquals(Thread.State.TERMINATED, reader.getState());
    assertEquals("the last line\n", log.since(0));
  }
}

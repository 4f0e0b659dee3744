package io.github.mayflydynamodb;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class ServerLogTest {
  private static Process start(String script) throws Exception {
    return new ProcessBuilder("sh", "-c", script).start();
  }

  @Test
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

package io.github.mayflydynamodb;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;

/**
 * Serves one of the test's own functions on a free port of the loopback interface. If the function throws an exception,
 * the response has the same form as Lambda's response.
 */
final class LocalFunction implements AutoCloseable {
  /** The function's code. It returns a value that {@link Json#print} accepts. */
  @FunctionalInterface
  interface Body {
    Object apply(Map<String, Object> event) throws Exception;
  }

  private final String name;
  private final Body body;
  private final Failures failures;
  private int running; // calls in flight; guarded by this
  private final HttpServer server;
  private final ExecutorService threads =
      Executors.newCachedThreadPool(
          work -> {
            Thread thread = new Thread(work, "mayfly function");
            thread.setDaemon(true);
            return thread;
          });

  LocalFunction(String name, Body body, Failures failures) {
    this.name = name;
    this.body = body;
    this.failures = failures;
    try {
      server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    } catch (IOException failed) {
      throw new MayflyException("Cannot open a port for the function " + name + ": " + failed.getMessage(), failed);
    }
    server.createContext("/", this::answer);
    server.setExecutor(threads);
    server.start();
  }

  URI url() {
    return URI.create("http://127.0.0.1:" + server.getAddress().getPort() + "/");
  }

  private void answer(HttpExchange exchange) throws IOException {
    try (exchange; InputStream in = exchange.getRequestBody()) {
      Map<String, Object> event = Json.parseObject(new String(in.readAllBytes(), StandardCharsets.UTF_8));
      Object returned;
      change(1);
      try {
        returned = body.apply(event);
      } catch (Exception | Error thrown) {
        failures.add(new HandlerFailure(name, thrown, event));
        // This is Lambda's response for a function that threw.
        exchange.getResponseHeaders().set("X-Amz-Function-Error", "Unhandled");
        returned = Map.of("errorType", thrown.getClass().getName(), "errorMessage", String.valueOf(thrown.getMessage()));
      } finally {
        change(-1);
      }
      byte[] answer = Json.print(returned).getBytes(StandardCharsets.UTF_8);
      exchange.getResponseHeaders().set("Content-Type", "application/json");
      exchange.sendResponseHeaders(200, answer.length);
      exchange.getResponseBody().write(answer);
    }
  }

  private synchronized void change(int by) {
    running += by;
    notifyAll();
  }

  /** Waits until no call is in flight, or until {@code System.nanoTime()} has reached {@code deadline}. */
  synchronized void awaitIdle(long deadline) {
    try {
      for (long left; running > 0 && (left = deadline - System.nanoTime()) > 0; ) {
        TimeUnit.NANOSECONDS.timedWait(this, left);
      }
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  @Override
  public void close() {
    server.stop(0);
    threads.shutdown();
  }
}

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
import java.util.function.Function;

/** Serves a function of the test's own on a free port of the loopback address, as Lambda would run it. */
final class LocalFunction implements AutoCloseable {
  private final Function<Map<String, Object>, ?> body;
  private final HttpServer server;
  private final ExecutorService threads =
      Executors.newCachedThreadPool(
          work -> {
            Thread thread = new Thread(work, "mayfly function");
            thread.setDaemon(true);
            return thread;
          });

  LocalFunction(Function<Map<String, Object>, ?> body) {
    this.body = body;
    try {
      server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    } catch (IOException failed) {
      throw new MayflyException("no port could be had for a function: " + failed.getMessage(), failed);
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
      try {
        returned = body.apply(event);
      } catch (RuntimeException | Error thrown) {
        // What Lambda says of a function that threw.
        exchange.getResponseHeaders().set("X-Amz-Function-Error", "Unhandled");
        returned = Map.of("errorType", thrown.getClass().getName(), "errorMessage", String.valueOf(thrown.getMessage()));
      }
      byte[] answer = Json.print(returned).getBytes(StandardCharsets.UTF_8);
      exchange.getResponseHeaders().set("Content-Type", "application/json");
      exchange.sendResponseHeaders(200, answer.length);
      exchange.getResponseBody().write(answer);
    }
  }

  @Override
  public void close() {
    server.stop(0);
    threads.shutdown();
  }
}

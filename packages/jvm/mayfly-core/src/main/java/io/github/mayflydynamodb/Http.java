package io.github.mayflydynamodb;

import java.io.IOException;
import java.io.InputStream;
import java.net.HttpURLConnection;
import java.net.Proxy;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;

/**
 * Sends HTTP requests. Every test run starts a new JVM, so the first request must be fast. The first request of
 * HttpURLConnection takes 20 ms of processor time in a new JVM. The first request of java.net.http takes 400 ms,
 * because that client prepares for TLS and HTTP/2.
 */
final class Http {
  /**
   * @param errorType the header x-amzn-ErrorType, or "Unknown" if it is missing
   */
  record Answer(int status, String body, String errorType) {}

  private static final int CONNECT_TIMEOUT_MS = 10_000;

  private Http() {}

  /**
   * Sends a request.
   *
   * @param body the request's body; null: the request has no body
   * @throws MayflyException if no response arrives in time; the exception's message has no period at the end
   */
  static Answer send(String method, URI url, Map<String, String> headers, String body, Duration timeout) {
    try {
      // Ignore proxy settings, because the server is on this machine or nearby.
      HttpURLConnection connection = (HttpURLConnection) url.toURL().openConnection(Proxy.NO_PROXY);
      connection.setRequestMethod(method);
      connection.setConnectTimeout(CONNECT_TIMEOUT_MS);
      connection.setReadTimeout(Math.toIntExact(Math.max(1, timeout.toMillis())));
      connection.setInstanceFollowRedirects(false);
      connection.setUseCaches(false);
      headers.forEach(connection::setRequestProperty);
      if (body != null) {
        byte[] bytes = body.getBytes(StandardCharsets.UTF_8);
        connection.setDoOutput(true);
        // Without a fixed length, HttpURLConnection would repeat a POST request if the connection broke.
        connection.setFixedLengthStreamingMode(bytes.length);
        connection.getOutputStream().write(bytes);
      }
      int status = connection.getResponseCode();
      String errorType = connection.getHeaderField("x-amzn-ErrorType");
      return new Answer(status, text(connection, status), errorType == null ? "Unknown" : errorType);
    } catch (IOException failed) {
      String why = failed.getMessage() == null ? failed.getClass().getSimpleName() : failed.getMessage();
      throw new MayflyException(
          "The server at " + url.getScheme() + "://" + url.getAuthority() + " did not answer " + method + " "
              + url.getPath() + ": " + why,
          failed);
    }
  }

  /** Reads the response to its end, so that the connection can be reused. */
  private static String text(HttpURLConnection connection, int status) throws IOException {
    try (InputStream in = status < 400 ? connection.getInputStream() : connection.getErrorStream()) {
      return in == null ? "" : new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
  }
}

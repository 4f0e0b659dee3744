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
 * One request and its answer. By HttpURLConnection, whose first request takes a young JVM 20 ms of its processors' time.
 * Rejected: java.net.http, which takes 400 ms, because it readies itself for TLS and HTTP/2, and every run is young.
 */
final class Http {
  /** @param errorType the header x-amzn-ErrorType; "Unknown" without one */
  record Answer(int status, String body, String errorType) {}

  private static final int CONNECT_TIMEOUT_MS = 10_000;

  private Http() {}

  /**
   * @param body null: none
   * @throws MayflyException if no answer comes in time; its message is without a full stop
   */
  static Answer send(String method, URI url, Map<String, String> headers, String body, Duration timeout) {
    try {
      // No proxy: the server is on this machine or near it.
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
        // A body of known length is never sent twice: else a POST is, over a connection that broke.
        connection.setFixedLengthStreamingMode(bytes.length);
        connection.getOutputStream().write(bytes);
      }
      int status = connection.getResponseCode();
      String errorType = connection.getHeaderField("x-amzn-ErrorType");
      return new Answer(status, text(connection, status), errorType == null ? "Unknown" : errorType);
    } catch (IOException failed) {
      String why = failed.getMessage() == null ? failed.getClass().getSimpleName() : failed.getMessage();
      throw new MayflyException(
          "mayfly at " + url.getScheme() + "://" + url.getAuthority() + " did not answer " + method + " "
              + url.getPath() + ": " + why,
          failed);
    }
  }

  /** Read to its end, so that the connection serves again. */
  private static String text(HttpURLConnection connection, int status) throws IOException {
    try (InputStream in = status < 400 ? connection.getInputStream() : connection.getErrorStream()) {
      return in == null ? "" : new String(in.readAllBytes(), StandardCharsets.UTF_8);
    }
  }
}

package io.github.mayflydynamodb;

import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Map;

/** Calls of one account's control API, {@code /_mayfly/…}: JSON in, JSON out. */
record Control(URI url, String account, String region) {
  /** Longer than anything that the server itself lets wait, which is 600 s. */
  static final Duration TIMEOUT = Duration.ofSeconds(660);

  private static final HttpClient HTTP =
      HttpClient.newBuilder()
          .version(HttpClient.Version.HTTP_1_1)
          .proxy(HttpClient.Builder.NO_PROXY)
          .connectTimeout(Duration.ofSeconds(10))
          .build();

  /**
   * The answer's members.
   *
   * @param path below {@code /_mayfly}, such as {@code /clock}
   * @param body null: none
   * @throws ControlException if the server refuses
   * @throws MayflyException if it does not answer
   */
  Map<String, Object> call(String method, String path, Map<String, ?> body, Duration timeout) {
    HttpResponse<String> answer = send(method, path, body == null ? null : Json.print(body), timeout);
    Map<String, Object> members = Json.parseObject(answer.body());
    if (answer.statusCode() >= 300) {
      throw refusal(answer, members);
    }
    return members;
  }

  Map<String, Object> call(String method, String path, Map<String, ?> body) {
    return call(method, path, body, TIMEOUT);
  }

  /** The answer, whatever its status. */
  HttpResponse<String> send(String method, String path, String body, Duration timeout) {
    return send(
        request(method, "/_mayfly" + path, body)
            .timeout(timeout)
            .header("X-Mayfly-Account", account)
            .header("X-Mayfly-Region", region)
            .build());
  }

  /**
   * A call of Lambda's API, {@code /2015-03-31/…}. The server reads the account from the signature and does not check
   * it, so that none need be computed.
   */
  HttpResponse<String> lambda(String method, String path, Map<String, ?> body) {
    return send(
        request(method, "/2015-03-31" + path, Json.print(body))
            .timeout(TIMEOUT)
            .header("X-Amz-Date", "20260101T000000Z")
            .header(
                "Authorization",
                "AWS4-HMAC-SHA256 Credential=" + account + "/20260101/" + region
                    + "/lambda/aws4_request, SignedHeaders=host, Signature=0")
            .build());
  }

  private HttpRequest.Builder request(String method, String path, String body) {
    return HttpRequest.newBuilder(URI.create(url + path))
        .header("Content-Type", "application/json")
        .method(method, body == null ? BodyPublishers.noBody() : BodyPublishers.ofString(body));
  }

  private HttpResponse<String> send(HttpRequest request) {
    String what = request.method() + " " + request.uri().getPath();
    try {
      return HTTP.send(request, BodyHandlers.ofString());
    } catch (IOException failed) {
      String why = failed.getMessage() == null ? failed.getClass().getSimpleName() : failed.getMessage();
      throw new MayflyException("mayfly at " + url + " does not answer " + what + ": " + why, failed);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new MayflyException("interrupted while mayfly was asked for " + what, interrupted);
    }
  }

  /** A name as a part of a path. */
  static String segment(String name) {
    return URLEncoder.encode(name, StandardCharsets.UTF_8).replace("+", "%20");
  }

  static ControlException refusal(HttpResponse<String> answer, Map<String, Object> members) {
    String name =
        String.valueOf(
            members.getOrDefault("__type", answer.headers().firstValue("x-amzn-ErrorType").orElse("Unknown")));
    String type = name.substring(name.indexOf('#') + 1);
    String message = String.valueOf(members.getOrDefault("message", members.getOrDefault("Message", answer.body())));
    if (answer.statusCode() == 408 && members.get("records") != null) {
      var changes = Json.objects(members.get("records")).stream().map(Change::new).toList();
      return new AwaitTimeoutException(type, message, 408, changes);
    }
    return new ControlException(type, message, answer.statusCode());
  }
}

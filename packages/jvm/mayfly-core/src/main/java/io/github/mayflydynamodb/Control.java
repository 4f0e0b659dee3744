package io.github.mayflydynamodb;

import java.net.URI;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.Supplier;

/**
 * Calls of one account's control API, {@code /_mayfly/…}: JSON in, JSON out.
 *
 * @param process the server's; null: it is not ours
 */
record Control(URI url, String account, String region, ServerProcess process) {
  /** Longer than anything that the server itself lets wait, which is 600 s. */
  static final Duration TIMEOUT = Duration.ofSeconds(660);

  /**
   * The answer's members.
   *
   * @param path below {@code /_mayfly}, such as {@code /clock}
   * @param body null: none
   * @throws ControlException if the server refuses
   * @throws MayflyException if it does not answer
   */
  Map<String, Object> call(String method, String path, Map<String, ?> body, Duration timeout) {
    return members(
        explained(method + " /_mayfly" + path, () -> send(method, path, body == null ? null : Json.print(body), timeout)));
  }

  Map<String, Object> call(String method, String path, Map<String, ?> body) {
    return call(method, path, body, TIMEOUT);
  }

  /** The answer, whatever its status. */
  Http.Answer send(String method, String path, String body, Duration timeout) {
    Map<String, String> headers = headers();
    headers.put("X-Mayfly-Account", account);
    headers.put("X-Mayfly-Region", region);
    return Http.send(method, URI.create(url + "/_mayfly" + path), headers, body, timeout);
  }

  /**
   * A call of Lambda's API, {@code /2015-03-31/…}. The server reads the account from the signature and does not check
   * it, so that none need be computed.
   */
  Http.Answer lambda(String method, String path, Map<String, ?> body) {
    Map<String, String> headers = headers();
    headers.put("X-Amz-Date", "20260101T000000Z");
    headers.put(
        "Authorization",
        "AWS4-HMAC-SHA256 Credential=" + account + "/20260101/" + region
            + "/lambda/aws4_request, SignedHeaders=host, Signature=0");
    URI target = URI.create(url + "/2015-03-31" + path);
    return explained(
        method + " /2015-03-31" + path, () -> Http.send(method, target, headers, Json.print(body), TIMEOUT));
  }

  /** Says of a call without an answer whether the server has died, and how. */
  private Http.Answer explained(String request, Supplier<Http.Answer> call) {
    try {
      return call.get();
    } catch (MayflyException silent) {
      throw death(request, silent)
          .orElseGet(
              () -> new MayflyException(silent.getMessage() + ". Check that the server is running.", silent.getCause()));
    }
  }

  /** The exception for a request without an answer, if the server is ours and has died. */
  Optional<MayflyException> death(String request, Throwable silent) {
    return process == null ? Optional.empty() : process.death(request, silent);
  }

  private static Map<String, String> headers() {
    Map<String, String> headers = new LinkedHashMap<>();
    headers.put("Content-Type", "application/json");
    return headers;
  }

  /** A name as a part of a path. */
  static String segment(String name) {
    return URLEncoder.encode(name, StandardCharsets.UTF_8).replace("+", "%20");
  }

  /** What the answer holds, or the exception that it is. */
  static Map<String, Object> members(Http.Answer answer) {
    Map<String, Object> members = Json.parseObject(answer.body());
    if (answer.status() < 300) {
      return members;
    }
    String name = String.valueOf(members.getOrDefault("__type", answer.errorType()));
    String type = name.substring(name.indexOf('#') + 1);
    String message = String.valueOf(members.getOrDefault("message", members.getOrDefault("Message", answer.body())));
    if (answer.status() == 408 && members.get("records") != null) {
      var changes = Json.objects(members.get("records")).stream().map(Change::new).toList();
      throw new AwaitTimeoutException(type, message, 408, changes);
    }
    throw new ControlException(type, message, answer.status());
  }
}

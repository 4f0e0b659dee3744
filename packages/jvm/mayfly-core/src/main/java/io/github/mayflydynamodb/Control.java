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
 * Calls the control API, {@code /_mayfly/…}, for one account. Requests and responses are JSON.
 *
 * @param process the server's process; null: the server is an existing one
 */
record Control(URI url, String account, String region, ServerProcess process) {
  /** The time limit of a call. It is longer than the server's own limit for calls that wait, which is 600 s. */
  static final Duration TIMEOUT = Duration.ofSeconds(660);

  /**
   * Makes a call and returns the response's members.
   *
   * @param path the part after {@code /_mayfly}, such as {@code /clock}
   * @param body the request's members; null: the request has no body
   * @throws ControlException if the server refuses the call
   * @throws MayflyException if the server does not answer
   */
  Map<String, Object> call(String method, String path, Map<String, ?> body, Duration timeout) {
    return members(
        explained(method + " /_mayfly" + path, () -> send(method, path, body == null ? null : Json.print(body), timeout)));
  }

  Map<String, Object> call(String method, String path, Map<String, ?> body) {
    return call(method, path, body, TIMEOUT);
  }

  /** Makes a call and returns the response, even if it is an error. */
  Http.Answer send(String method, String path, String body, Duration timeout) {
    Map<String, String> headers = headers();
    headers.put("X-Mayfly-Account", account);
    headers.put("X-Mayfly-Region", region);
    return Http.send(method, URI.create(url + "/_mayfly" + path), headers, body, timeout);
  }

  /**
   * Calls Lambda's API, {@code /2015-03-31/…}. The signature names the account but is invalid. That is sufficient,
   * because the server does not verify the signature.
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

  /** Makes a call. If it gets no response because the server has died, the exception says how the server died. */
  private Http.Answer explained(String request, Supplier<Http.Answer> call) {
    try {
      return call.get();
    } catch (MayflyException silent) {
      throw death(request, silent)
          .orElseGet(
              () -> new MayflyException(silent.getMessage() + ". Check that the server is running.", silent.getCause()));
    }
  }

  /**
   * Returns the exception for a request that got no response, if this JVM started the server and the server has died;
   * otherwise returns empty.
   */
  Optional<MayflyException> death(String request, Throwable silent) {
    return process == null ? Optional.empty() : process.death(request, silent);
  }

  private static Map<String, String> headers() {
    Map<String, String> headers = new LinkedHashMap<>();
    headers.put("Content-Type", "application/json");
    return headers;
  }

  /** Encodes a name as a path segment. */
  static String segment(String name) {
    return URLEncoder.encode(name, StandardCharsets.UTF_8).replace("+", "%20");
  }

  /** Returns the response's members, or throws if the response is an error. */
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

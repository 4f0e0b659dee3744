package io.github.mayflydynamodb;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Options of a function. Each method returns a changed copy.
 *
 * @param timeout the time limit of a call; null: 60 s
 * @param failuresExpected whether the test expects the function to fail
 */
public record FunctionOptions(Duration timeout, boolean failuresExpected) {
  /** Returns the default options: a time limit of 60 s, for a function whose failures are not expected. */
  public static FunctionOptions defaults() {
    return new FunctionOptions(null, false);
  }

  /** Sets the time limit of a call. */
  public FunctionOptions timeout(Duration limit) {
    return new FunctionOptions(limit, failuresExpected);
  }

  /**
   * Declares that the test expects the function to fail. The function's failures are neither printed nor thrown, but
   * {@link World#handlerFailures} includes them.
   */
  public FunctionOptions mayFail() {
    return new FunctionOptions(timeout, true);
  }

  Map<String, Object> toJson(String url) {
    Map<String, Object> json = new LinkedHashMap<>();
    json.put("url", url);
    if (timeout != null) {
      json.put("timeout_seconds", Times.seconds(timeout));
    }
    return json;
  }
}

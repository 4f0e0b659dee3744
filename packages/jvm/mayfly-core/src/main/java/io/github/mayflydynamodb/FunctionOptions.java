package io.github.mayflydynamodb;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * How a function is called, and what its failures mean. Each method returns a changed copy.
 *
 * @param timeout the time limit of a call; null: 60 s
 * @param failuresExpected whether the test expects that the function fails
 */
public record FunctionOptions(Duration timeout, boolean failuresExpected) {
  public static FunctionOptions defaults() {
    return new FunctionOptions(null, false);
  }

  /** The time limit of a call: 60 s by default. */
  public FunctionOptions timeout(Duration limit) {
    return new FunctionOptions(limit, failuresExpected);
  }

  /** The test expects that the function fails: its failures are neither printed nor thrown. */
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

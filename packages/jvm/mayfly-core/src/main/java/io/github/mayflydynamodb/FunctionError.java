package io.github.mayflydynamodb;

import java.util.Map;
import java.util.Optional;

/**
 * How a call of a function failed, as the server saw it.
 *
 * @param status the HTTP status of the function's answer
 * @param error such as {@code Unhandled}; what a destination is told
 * @param type the function's {@code errorType}, if it gave one
 * @param message the function's {@code errorMessage}, if it gave one
 */
public record FunctionError(long status, Optional<String> error, Optional<String> type, Optional<String> message) {
  static FunctionError of(Object json) {
    Map<String, Object> members = Json.object(json);
    return new FunctionError(
        members.get("status") instanceof Number status ? status.longValue() : 0,
        text(members, "error"),
        text(members, "type"),
        text(members, "message"));
  }

  private static Optional<String> text(Map<String, Object> members, String name) {
    return Optional.ofNullable(members.get(name)).map(Object::toString);
  }

  /** Such as {@code AssertionError: expected 1}, or {@code Unhandled (HTTP status 500)}. */
  @Override
  public String toString() {
    if (type.isPresent() || message.isPresent()) {
      return type.orElse("") + (type.isPresent() && message.isPresent() ? ": " : "") + message.orElse("");
    }
    return error.map(name -> name + " (HTTP status " + status + ")").orElse("HTTP status " + status);
  }
}

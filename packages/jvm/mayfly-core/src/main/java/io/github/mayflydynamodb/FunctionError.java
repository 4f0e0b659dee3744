package io.github.mayflydynamodb;

import java.util.Map;
import java.util.Optional;

/**
 * Describes how a call to a function failed, from the server's point of view.
 *
 * @param status the HTTP status of the function's response; 0 if the server received no response
 * @param error the error that an on-failure destination receives, such as {@code Unhandled}
 * @param type the {@code errorType} in the response, if the response has one
 * @param message the {@code errorMessage} in the response, if the response has one
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

  /** Returns a string such as {@code AssertionError: expected 1} or {@code Unhandled (HTTP status 500)}. */
  @Override
  public String toString() {
    if (type.isPresent() || message.isPresent()) {
      return type.orElse("") + (type.isPresent() && message.isPresent() ? ": " : "") + message.orElse("");
    }
    return error.map(name -> name + " (HTTP status " + status + ")").orElse("HTTP status " + status);
  }
}

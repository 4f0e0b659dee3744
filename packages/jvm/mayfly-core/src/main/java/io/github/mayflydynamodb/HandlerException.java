package io.github.mayflydynamodb;

import java.util.List;
import java.util.Optional;

/**
 * A function that was not registered with {@link FunctionOptions#mayFail} failed, or a trigger has records for a
 * function that is not registered. This exception is thrown by {@link World#settle}, by an advance with {@link
 * Travel#SETTLE}, or when the test ends. The cause is the first exception that one of the test's own functions threw.
 * Later exceptions are added as suppressed exceptions.
 */
public class HandlerException extends RuntimeException {
  private static final long serialVersionUID = 1;

  private final transient List<HandlerFailure> failures;
  private final transient Advanced settled;

  HandlerException(String message, List<HandlerFailure> failures, Advanced settled) {
    super(message, failures.isEmpty() ? null : failures.get(0).error());
    this.failures = List.copyOf(failures);
    this.settled = settled;
  }

  /**
   * Returns the failed calls to the test's own functions since the last HandlerException, oldest first; at most 100.
   */
  public List<HandlerFailure> failures() {
    return failures;
  }

  /** Returns the result of the settle that found the failures; empty if they were found when the test ended. */
  public Optional<Advanced> settled() {
    return Optional.ofNullable(settled);
  }
}

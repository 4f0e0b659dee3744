package io.github.mayflydynamodb;

import java.util.List;
import java.util.Optional;

/**
 * A function failed, and the test did not declare that with {@link FunctionOptions#mayFail}, or a trigger has records for
 * a function that nobody registered. Thrown by {@link World#settle} and by an advance with {@link Travel#SETTLE}, and at the latest when the test ends. The cause is the
 * first exception of a function of the test's own, if there is one; later ones are suppressed exceptions.
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

  /** The failed calls of the test's own functions since the last HandlerException, oldest first; at most 100. */
  public List<HandlerFailure> failures() {
    return failures;
  }

  /** The result of the settle that found the failures; empty if none did. */
  public Optional<Advanced> settled() {
    return Optional.ofNullable(settled);
  }
}

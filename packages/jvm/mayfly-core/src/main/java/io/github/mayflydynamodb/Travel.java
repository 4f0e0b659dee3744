package io.github.mayflydynamodb;

/** Options of an advance: {@code clock.advance(Duration.ofHours(48), Travel.SETTLE)}. */
public enum Travel {
  /**
   * Return when every record in the streams has reached its function, was given up, or is in retry after its function
   * failed, and jobs are done. Throws a {@link HandlerException} if a function failed that was not registered with {@link
   * FunctionOptions#mayFail}.
   */
  SETTLE,
  /** Let stream records and iterators age by the jump, so that records are trimmed after 24 hours. */
  AGE_STREAMS
}

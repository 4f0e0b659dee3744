package io.github.mayflydynamodb;

/** Options of an advance: {@code clock.advance(Duration.ofHours(48), Travel.SETTLE)}. */
public enum Travel {
  /**
   * Makes the advance wait until every record in the world's streams has reached its function or was given up, and jobs
   * are done. It does not wait for a function that keeps failing. Throws a {@link HandlerException} if a function
   * failed that was not registered with {@link FunctionOptions#mayFail}.
   */
  SETTLE,
  /** Makes stream records and iterators age with the advance, so that records older than 24 hours are trimmed. */
  AGE_STREAMS
}

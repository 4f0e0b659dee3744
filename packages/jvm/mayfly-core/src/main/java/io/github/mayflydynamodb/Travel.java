package io.github.mayflydynamodb;

/** Options of an advance: {@code clock.advance(Duration.ofHours(48), Travel.SETTLE)}. */
public enum Travel {
  /**
   * Makes the advance wait until every record in the world's streams has reached its function or the server has given
   * up on it, and until all jobs have ended. The advance does not wait for a function that keeps failing. It throws a
   * {@link HandlerException} if a function that was not registered with {@link FunctionOptions#mayFail} failed.
   */
  SETTLE,
  /** Makes stream records and iterators age with the advance, so that records older than 24 hours are trimmed. */
  AGE_STREAMS
}

package io.github.mayflydynamodb;

/** What an advance does besides: {@code clock.advance(Duration.ofHours(48), Travel.SETTLE)}. */
public enum Travel {
  /**
   * Answer when everything in the account's streams has reached its functions or was given up, and jobs are over; see
   * {@link Advanced#settled()}.
   */
  SETTLE,
  /** Let stream records and iterators age by the jump, so that 24 hours later a record is trimmed. */
  AGE_STREAMS
}

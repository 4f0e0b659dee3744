package io.github.mayflydynamodb;

/** Determines when expired items are deleted. */
public enum TtlMode {
  /** Expired items are deleted immediately. */
  EXACT,
  /** Expired items are deleted late, as on AWS. */
  AWS,
  /** Expired items are deleted only by {@link Ttl#sweep}. */
  MANUAL
}

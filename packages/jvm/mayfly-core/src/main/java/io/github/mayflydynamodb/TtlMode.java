package io.github.mayflydynamodb;

/** When expired items are deleted. */
public enum TtlMode {
  /** Immediately. */
  EXACT,
  /** Late, as on AWS. */
  AWS,
  /** On request, by {@link Ttl#sweep}. */
  MANUAL
}

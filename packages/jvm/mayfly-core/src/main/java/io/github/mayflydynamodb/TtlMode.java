package io.github.mayflydynamodb;

/** When an expired item is deleted. */
public enum TtlMode {
  /** At once. */
  EXACT,
  /** Late by a delay, as on AWS. */
  AWS,
  /** By {@link Ttl#sweep}. */
  MANUAL
}

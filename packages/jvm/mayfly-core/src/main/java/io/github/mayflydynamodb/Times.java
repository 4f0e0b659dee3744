package io.github.mayflydynamodb;

import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Optional;

/** Instants and durations in the formats of the control API, which has a resolution of milliseconds. */
final class Times {
  private Times() {}

  /** Returns the instant as text, truncated to milliseconds. */
  static String print(Instant instant) {
    return instant.truncatedTo(ChronoUnit.MILLIS).toString();
  }

  static Instant parse(Object text) {
    return Instant.parse((String) text);
  }

  static Optional<Instant> parseIfAny(Object text) {
    return Optional.ofNullable(text).map(Times::parse);
  }

  static BigDecimal seconds(Duration duration) {
    BigDecimal seconds = BigDecimal.valueOf(duration.toMillis(), 3).stripTrailingZeros();
    return seconds.setScale(Math.max(0, seconds.scale())); // 60, not 6E+1
  }
}

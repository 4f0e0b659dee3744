package io.github.mayflydynamodb;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Instant;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** Waits for at most ten seconds until a condition is true, and checks the condition every millisecond. */
final class Await {
  private Await() {}

  static void until(BooleanSupplier condition) {
    Instant deadline = Instant.now().plusSeconds(10);
    while (!condition.getAsBoolean()) {
      assertTrue(Instant.now().isBefore(deadline), "the condition is still false after 10 s");
      LockSupport.parkNanos(1_000_000);
    }
  }
}

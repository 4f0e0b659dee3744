package io.github.mayflydynamodb;

import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;

/**
 * A world's clock, which is also a {@link java.time.Clock}. Pass it to the program under test, so that the program and
 * the world have the same time.
 *
 * <pre>{@code
 * clock.freeze(Instant.parse("2031-01-01T00:00:00Z"));
 * var carts = new Carts(dynamoDb, clock);
 * carts.put("1");                              // ttl = clock.instant() + 1 h
 * clock.advance(Duration.ofHours(2));          // the item has expired
 * }</pre>
 *
 * <p>Each call reads the time from the server. Times are truncated to milliseconds.
 */
public final class Clock extends java.time.Clock {
  private final Control control;
  private final ZoneId zone;
  private final Consumer<Advanced> check;

  /**
   * @param check gets the result of each settle, and throws if the settle found failures
   */
  Clock(Control control, Consumer<Advanced> check) {
    this(control, ZoneOffset.UTC, check);
  }

  private Clock(Control control, ZoneId zone, Consumer<Advanced> check) {
    this.control = control;
    this.zone = zone;
    this.check = check;
  }

  /** Returns the world's time, to the millisecond. */
  @Override
  public Instant instant() {
    return Times.parse(control.call("GET", "/clock", null).get("now"));
  }

  /** Equivalent to {@link #instant()}. */
  public Instant now() {
    return instant();
  }

  @Override
  public ZoneId getZone() {
    return zone;
  }

  /** Returns the same clock with another time zone. */
  @Override
  public Clock withZone(ZoneId other) {
    return new Clock(control, other, check);
  }

  /** Stops the clock at its current time. */
  public Advanced freeze() {
    return set(Map.of("mode", "frozen"));
  }

  /**
   * Stops the clock at an instant, and deletes the items that expire by then.
   *
   * @throws ControlException Conflict, if the clock is past that instant and the world has tables
   */
  public Advanced freeze(Instant at) {
    return set(Map.of("mode", "frozen", "now", Times.print(at)));
  }

  /**
   * Moves the clock to an instant, and deletes the items that expire by then. A frozen clock stays frozen; otherwise
   * the clock keeps running.
   *
   * @throws ControlException Conflict, if the clock is past that instant and the world has tables
   */
  public Advanced set(Instant to) {
    return set(Map.of("now", Times.print(to)));
  }

  /**
   * Makes the clock show the host's time again.
   *
   * @throws ControlException Conflict, if the clock is ahead of the host's clock and the world has tables
   */
  public Advanced runReal() {
    return set(Map.of("mode", "real"));
  }

  /**
   * Makes the clock run from its current time, {@code rate} times as fast as the host's clock. The rate is between
   * 0.001 and 1,000,000.
   */
  public Advanced rate(double rate) {
    return set(Map.of("mode", "rate", "rate", rate));
  }

  /**
   * Moves the clock forward, through every instant at which an item expires. When the call returns, expired items are
   * gone from their tables and indexes, and their REMOVE records can be read.
   *
   * @throws IllegalArgumentException if {@code by} is negative
   * @throws HandlerException with {@link Travel#SETTLE}, if a function that was not registered with {@link
   *     FunctionOptions#mayFail} failed
   */
  public Advanced advance(Duration by, Travel... options) {
    if (by.isNegative()) {
      throw new IllegalArgumentException(
          "An advance must not be negative, got " + by + ". To go back in time, reset the world or restore a snapshot.");
    }
    return advance("seconds", Times.seconds(by), options);
  }

  /**
   * Advances the clock to an instant.
   *
   * @throws ControlException Conflict, if the clock is past that instant
   */
  public Advanced advanceTo(Instant to, Travel... options) {
    return advance("to", Times.print(to), options);
  }

  /**
   * Advances the clock to the next instant at which an item expires. If no item will expire, the clock does not move.
   */
  public Advanced advanceToNextExpiry(Travel... options) {
    return advance("to", "next-expiry", options);
  }

  private Advanced advance(String how, Object far, Travel... options) {
    List<Travel> chosen = List.of(options);
    Map<String, Object> body = new LinkedHashMap<>();
    body.put(how, far);
    if (chosen.contains(Travel.SETTLE)) {
      body.put("settle", "triggers");
    }
    if (chosen.contains(Travel.AGE_STREAMS)) {
      body.put("age_streams", true);
    }
    Advanced advanced = Advanced.of(control.call("POST", "/clock/advance", body));
    if (chosen.contains(Travel.SETTLE)) {
      check.accept(advanced);
    }
    return advanced;
  }

  /** Advances the clock by 0 s with {@link Travel#SETTLE}, and waits for at most {@code atMost} of real time. */
  Advanced settle(Duration atMost) {
    Map<String, Object> body = Map.of("seconds", 0, "settle", "triggers", "settle_seconds", Times.seconds(atMost));
    Advanced advanced = Advanced.of(control.call("POST", "/clock/advance", body));
    check.accept(advanced);
    return advanced;
  }

  private Advanced set(Map<String, Object> body) {
    return Advanced.of(control.call("PUT", "/clock", body));
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof Clock clock && control.equals(clock.control) && zone.equals(clock.zone);
  }

  @Override
  public int hashCode() {
    return Objects.hash(control, zone);
  }

  @Override
  public String toString() {
    return "clock of account " + control.account() + " at " + control.url();
  }
}

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
 * A world's clock, and a {@link java.time.Clock} for the program under test: give it this one, and both go by the same
 * time, whatever moves it.
 *
 * <pre>{@code
 * clock.freeze(Instant.parse("2031-01-01T00:00:00Z"));
 * var carts = new Carts(dynamoDb, clock);
 * carts.put("1");                              // ttl = clock.instant() + 1 h
 * clock.advance(Duration.ofHours(2));          // it is gone
 * }</pre>
 *
 * <p>Each reading asks the server. Times are in milliseconds; parts of one are dropped.
 */
public final class Clock extends java.time.Clock {
  private final Control control;
  private final ZoneId zone;
  private final Consumer<Advanced> check;

  /**
   * @param check throws if a settle found failures
   */
  Clock(Control control, Consumer<Advanced> check) {
    this(control, ZoneOffset.UTC, check);
  }

  private Clock(Control control, ZoneId zone, Consumer<Advanced> check) {
    this.control = control;
    this.zone = zone;
    this.check = check;
  }

  /** The world's time. */
  @Override
  public Instant instant() {
    return Times.parse(control.call("GET", "/clock", null).get("now"));
  }

  /** The same as {@link #instant()}. */
  public Instant now() {
    return instant();
  }

  @Override
  public ZoneId getZone() {
    return zone;
  }

  /** The same clock for another zone. */
  @Override
  public Clock withZone(ZoneId other) {
    return new Clock(control, other, check);
  }

  /** Lets time stand still. */
  public Advanced freeze() {
    return set(Map.of("mode", "frozen"));
  }

  /**
   * Lets time stand still at an instant; what falls due on the way expires.
   *
   * @throws ControlException Conflict, if that is in the past and the world has tables
   */
  public Advanced freeze(Instant at) {
    return set(Map.of("mode", "frozen", "now", Times.print(at)));
  }

  /**
   * Goes to an instant: a frozen clock stands there, another runs on from there.
   *
   * @throws ControlException Conflict, if that is in the past and the world has tables
   */
  public Advanced set(Instant to) {
    return set(Map.of("now", Times.print(to)));
  }

  /**
   * Runs by the host's time.
   *
   * @throws ControlException Conflict, if that would be a step back and the world has tables
   */
  public Advanced runReal() {
    return set(Map.of("mode", "real"));
  }

  /** Runs {@code rate} times as fast as the host's clock, from 0.001 to 1,000,000. */
  public Advanced rate(double rate) {
    return set(Map.of("mode", "rate", "rate", rate));
  }

  /**
   * Moves on through every instant at which something expires. When this returns, expired items are deleted and gone from
   * the indexes, and their REMOVE records can be read.
   *
   * @throws HandlerException with {@link Travel#SETTLE}, if a function failed
   */
  public Advanced advance(Duration by, Travel... options) {
    if (by.isNegative()) {
      throw new IllegalArgumentException("time is advanced by 0 or more, not by " + by + "; a reset or a restore goes back.");
    }
    return advance("seconds", Times.seconds(by), options);
  }

  /** The same, to an instant that is not in the past. */
  public Advanced advanceTo(Instant to, Travel... options) {
    return advance("to", Times.print(to), options);
  }

  /** The same, to the next instant at which something expires; stays where it is if nothing is going to. */
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

  /** An advance by 0 s that settles, at most so long. */
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

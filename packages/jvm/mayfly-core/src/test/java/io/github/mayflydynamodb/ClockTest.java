package io.github.mayflydynamodb;

import static io.github.mayflydynamodb.Travel.AGE_STREAMS;
import static io.github.mayflydynamodb.Travel.SETTLE;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.time.ZoneId;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class ClockTest extends Fixture {
  @Test
  void a_clock_can_be_frozen_at_an_instant() {
    clock.freeze(START);
    assertEquals(START, clock.instant());
    assertEquals(START, clock.now());
    assertEquals(START.toEpochMilli(), clock.millis());
  }

  @Test
  void freeze_without_an_instant_freezes_the_clock_at_its_current_time() {
    Instant now = clock.freeze().now();
    assertEquals(now, clock.instant());
    assertEquals(now, clock.instant());
  }

  @Test
  void the_program_can_use_the_clock_in_any_time_zone() {
    clock.freeze(START);
    java.time.Clock given = clock.withZone(ZoneId.of("America/New_York"));
    assertEquals(LocalDate.of(2030, 12, 31), LocalDate.now(given));
    assertEquals(LocalDate.of(2031, 1, 1), LocalDate.now((java.time.Clock) clock));
    assertEquals(clock, clock.withZone(clock.getZone()));
  }

  @Test
  void an_advance_reports_expired_items_by_table() {
    createCarts();
    putCart("1", START.plusSeconds(3600));
    putCart("2", START.plusSeconds(7200));
    putCart("3", START.plusSeconds(10 * 3600));

    Advanced advanced = clock.advance(Duration.ofHours(3));
    assertEquals(START.plusSeconds(3 * 3600), advanced.now());
    assertEquals(2, advanced.expired());
    assertEquals(Map.of("carts", 2L), advanced.tables());
    assertEquals(Optional.of(START.plusSeconds(10 * 3600).plusMillis(1)), advanced.nextExpiry());
    assertFalse(hasCart("1"));
    assertTrue(hasCart("3"));
  }

  @Test
  void an_advance_can_go_to_an_instant_or_to_the_next_expiry() {
    createCarts();
    putCart("1", START.plusSeconds(3600));
    assertEquals(0, clock.advanceTo(START.plusSeconds(3600)).expired());
    Advanced advanced = clock.advanceToNextExpiry();
    assertEquals(START.plusSeconds(3600).plusMillis(1), advanced.now());
    assertEquals(1, advanced.expired());
    assertEquals(Optional.empty(), advanced.nextExpiry());
  }

  @Test
  void an_advance_can_settle_and_age_stream_records() {
    createCarts();
    putCart("1", START.plusSeconds(20 * 3600));
    Advanced advanced = clock.advance(Duration.ofHours(25), SETTLE, AGE_STREAMS);
    assertTrue(advanced.settled());
    assertEquals(0, advanced.unfinished().size());
    // The INSERT record is now older than a day, so it was trimmed.
    assertEquals(
        Change.Event.REMOVE, world.await("carts", Map.of("id", "1"), Wanted.change().within(Duration.ZERO)).event());
  }

  @Test
  void an_advance_has_a_resolution_of_one_millisecond() {
    clock.freeze(START);
    assertEquals(START.plusMillis(1), clock.advance(Duration.ofMillis(1)).now());
    assertEquals(START.plusMillis(1501), clock.advance(Duration.ofMillis(1500)).now());
  }

  @Test
  void a_running_clock_keeps_running_after_it_is_set() {
    assertEquals(START, clock.set(START).now().truncatedTo(java.time.temporal.ChronoUnit.SECONDS));
    assertFalse(clock.instant().isBefore(START));
  }

  @Test
  void a_clock_can_run_at_a_rate_and_return_to_the_hosts_time() {
    Instant before = clock.rate(1_000_000).now();
    // One millisecond on the host's clock is more than a quarter of an hour on this clock.
    Await.until(() -> Duration.between(before, clock.instant()).toMinutes() >= 15);
    world.reset();
    clock.runReal();
    assertTrue(Duration.between(clock.instant(), Instant.now()).abs().compareTo(Duration.ofSeconds(30)) < 0);
  }

  @Test
  void a_clock_cannot_move_back_while_its_world_has_tables() {
    createCarts();
    ControlException refused = assertThrows(ControlException.class, () -> clock.advanceTo(START.minusSeconds(1)));
    assertEquals("Conflict", refused.type());
    assertEquals(409, refused.httpStatus());
    assertTrue(refused.getMessage().startsWith("The clock cannot go back while the account has tables"), refused.getMessage());
  }

  @Test
  void a_negative_advance_is_rejected() {
    IllegalArgumentException refused =
        assertThrows(IllegalArgumentException.class, () -> clock.advance(Duration.ofHours(-1)));
    assertEquals(
        "An advance must not be negative, got PT-1H. To go back in time, reset the world or restore a snapshot.",
        refused.getMessage());
  }

  @Test
  void each_world_has_its_own_clock() {
    clock.freeze(START);
    try (World other = SERVER.world()) {
      other.clock().freeze(START.plusSeconds(5));
      clock.advance(Duration.ofDays(1));
      assertEquals(START.plusSeconds(5), other.clock().instant());
    }
  }
}

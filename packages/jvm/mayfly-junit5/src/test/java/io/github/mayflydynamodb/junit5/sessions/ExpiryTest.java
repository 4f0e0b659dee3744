package io.github.mayflydynamodb.junit5.sessions;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.mayflydynamodb.Clock;
import io.github.mayflydynamodb.Explanation;
import io.github.mayflydynamodb.Table;
import io.github.mayflydynamodb.Wanted;
import io.github.mayflydynamodb.World;
import io.github.mayflydynamodb.junit5.MayflyTest;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

@MayflyTest
class ExpiryTest {
  private Sessions sessions;

  @BeforeEach
  void create_sessions(World world, Clock clock) {
    clock.freeze();
    world.createTable(Table.named("sessions").ttl("expires"));
    sessions = new Sessions(world.dynamoDb(), clock);
  }

  @Test
  void a_session_ends_after_30_minutes(Clock clock) {
    sessions.start("ann");

    clock.advance(Duration.ofMinutes(29));
    assertTrue(sessions.isOpen("ann"));
    assertEquals(Map.of("sessions", 1L), clock.advance(Duration.ofMinutes(2)).tables());
    assertFalse(sessions.isOpen("ann"));
  }

  @Test
  void the_service_removes_the_session(World world, Clock clock) {
    sessions.start("ann");
    clock.advance(Duration.ofMinutes(31));

    var change = world.await("sessions", Map.of("id", "ann"), Wanted.remove().byService());
    assertEquals("ann", change.oldImage().get("id").s());
  }

  @Test
  void a_session_ends_even_if_it_is_not_deleted_yet(World world, Clock clock) {
    world.ttl("sessions").aws();
    sessions.start("ann");
    clock.advance(Duration.ofMinutes(31));

    assertEquals(Explanation.Reason.DELAYED, world.explain("sessions", Map.of("id", "ann")).reason());
    assertFalse(sessions.isOpen("ann"));
  }
}

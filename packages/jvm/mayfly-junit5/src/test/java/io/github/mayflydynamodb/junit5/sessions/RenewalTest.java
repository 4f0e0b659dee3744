package io.github.mayflydynamodb.junit5.sessions;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.github.mayflydynamodb.Clock;
import io.github.mayflydynamodb.Table;
import io.github.mayflydynamodb.World;
import io.github.mayflydynamodb.junit5.MayflyTest;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.services.dynamodb.model.ConditionalCheckFailedException;

@MayflyTest
class RenewalTest {
  private Sessions sessions;

  @BeforeEach
  void create_sessions(World world, Clock clock) {
    clock.freeze();
    world.createTable(Table.named("sessions").ttl("expires"));
    sessions = new Sessions(world.dynamoDb(), clock);
  }

  @Test
  void a_session_that_is_used_stays_open(Clock clock) {
    sessions.start("ann");
    for (int use = 0; use < 3; ++use) {
      clock.advance(Duration.ofMinutes(20));
      sessions.renew("ann");
    }

    clock.advance(Duration.ofMinutes(29));
    assertTrue(sessions.isOpen("ann"));
    assertEquals(Map.of("sessions", 1L), clock.advance(Duration.ofMinutes(2)).tables());
  }

  @Test
  void a_session_that_has_ended_cannot_be_renewed(Clock clock) {
    sessions.start("ann");
    clock.advance(Duration.ofMinutes(31));

    assertThrows(ConditionalCheckFailedException.class, () -> sessions.renew("ann"));
  }
}

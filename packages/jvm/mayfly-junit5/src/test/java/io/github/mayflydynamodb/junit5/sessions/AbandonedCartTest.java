package io.github.mayflydynamodb.junit5.sessions;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.github.mayflydynamodb.Change;
import io.github.mayflydynamodb.Clock;
import io.github.mayflydynamodb.StreamEvent;
import io.github.mayflydynamodb.Table;
import io.github.mayflydynamodb.Travel;
import io.github.mayflydynamodb.World;
import io.github.mayflydynamodb.junit5.MayflyTest;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

@MayflyTest
class AbandonedCartTest {
  private final List<String> reminded = new CopyOnWriteArrayList<>();
  private Sessions sessions;

  @BeforeEach
  void create_sessions(World world, Clock clock) {
    clock.freeze();
    world.createTable(Table.named("sessions").ttl("expires"));
    world.streamFunction("reminder", this::remind);
    world.trigger("sessions", "reminder", Map.of("MaximumRetryAttempts", 2));
    sessions = new Sessions(world.dynamoDb(), clock);
  }

  /** Sends a reminder for each session that expired with something in its cart. */
  private void remind(StreamEvent event) {
    for (Change change : event.records()) {
      if (change.byService() && !change.oldImage().get("cart").l().isEmpty()) {
        reminded.add(change.keys().get("id").s());
      }
    }
  }

  @Test
  void an_abandoned_cart_sends_a_reminder(Clock clock) {
    sessions.start("ann", "apples");
    sessions.start("bob");

    clock.advance(Duration.ofMinutes(31), Travel.SETTLE);
    assertEquals(List.of("ann"), reminded);
  }

  @Test
  void a_user_who_logs_out_gets_no_reminder(Clock clock) {
    sessions.start("ann", "apples");
    sessions.end("ann");

    clock.advance(Duration.ofMinutes(31), Travel.SETTLE);
    assertEquals(List.of(), reminded);
  }
}

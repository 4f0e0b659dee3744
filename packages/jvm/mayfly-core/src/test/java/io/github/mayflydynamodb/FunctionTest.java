package io.github.mayflydynamodb;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class FunctionTest extends Fixture {
  @Test
  void a_function_receives_the_records_of_a_mapping() {
    createCarts();
    List<String> events = Collections.synchronizedList(new ArrayList<>());
    world.function(
        "reminder",
        event -> {
          Json.objects(event.get("Records")).forEach(record -> events.add(record.get("eventName").toString()));
          return null;
        });
    world.trigger("carts", "reminder");
    putCart("1", START.plusSeconds(60));
    assertTrue(clock.advance(Duration.ofHours(1), Travel.SETTLE).settled());
    assertEquals(List.of("INSERT", "REMOVE"), events);
  }

  @Test
  void a_function_can_be_invoked_and_its_exception_is_returned_as_an_error() {
    world.function("twice", event -> Map.of("is", 2 * (Long) event.get("number")));
    world.function(
        "fails",
        event -> {
          throw new IllegalStateException("no");
        },
        FunctionOptions.defaults().mayFail());
    assertEquals("{\"is\":42}", invoke("twice", Map.of("number", 21)).body());
    Http.Answer failed = invoke("fails", Map.of());
    assertEquals(
        Map.of("errorType", "java.lang.IllegalStateException", "errorMessage", "no"),
        Json.parseObject(failed.body()));
  }

  private Http.Answer invoke(String function, Map<String, ?> event) {
    return new Control(world.url(), world.account(), world.region(), null)
        .lambda("POST", "/functions/" + function + "/invocations", event);
  }

  @Test
  void a_mapping_accepts_Lambdas_settings_and_returns_Lambdas_errors() {
    createCarts();
    assertTrue(world.trigger("carts", "reminder", Map.of("BatchSize", 1)).matches("[0-9a-f-]{36}"));
    ControlException refused =
        assertThrows(ControlException.class, () -> world.trigger("carts", "reminder", Map.of("BatchSize", 0)));
    assertEquals("ValidationException", refused.type());
    assertTrue(refused.getMessage().contains("Value '0' at 'batchSize'"), refused.getMessage());
  }

  @Test
  void closing_a_world_removes_its_functions() {
    world.function("one", event -> null);
    world.removeFunction("one");
    world.function("two", event -> null);
    world.close();
    assertEquals(Map.of("functions", List.of()), world.control("GET", "/functions", null));
  }

  @Test
  void a_malformed_function_name_is_rejected_by_the_server() {
    ControlException refused = assertThrows(ControlException.class, () -> world.function("a:b:c", event -> null));
    assertEquals("'a:b:c' is not a valid function name.", refused.getMessage());
  }
}

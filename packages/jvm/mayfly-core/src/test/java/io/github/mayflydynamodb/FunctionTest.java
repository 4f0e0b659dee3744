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
import software.amazon.awssdk.core.SdkBytes;
import software.amazon.awssdk.services.lambda.LambdaClient;
import software.amazon.awssdk.services.lambda.model.EventSourcePosition;

class FunctionTest extends Fixture {
  @Test
  void a_function_of_the_test_gets_what_a_mapping_delivers() {
    createCarts();
    List<String> events = Collections.synchronizedList(new ArrayList<>());
    world.function(
        "reminder",
        event -> {
          Json.objects(event.get("Records")).forEach(record -> events.add(record.get("eventName").toString()));
          return null;
        });
    String stream = world.dynamoDbStreams().listStreams().streams().get(0).streamArn();
    try (LambdaClient functions = world.configure(LambdaClient.builder()).build()) {
      functions.createEventSourceMapping(
          mapping ->
              mapping
                  .eventSourceArn(stream)
                  .functionName("reminder")
                  .startingPosition(EventSourcePosition.TRIM_HORIZON));
    }
    putCart("1", START.plusSeconds(60));
    assertTrue(clock.advance(Duration.ofHours(1), Travel.SETTLE).settled());
    assertEquals(List.of("INSERT", "REMOVE"), events);
  }

  @Test
  void a_function_can_be_invoked_and_what_it_throws_is_its_error() {
    world.function("twice", event -> Map.of("is", 2 * (Long) event.get("number")));
    world.function(
        "fails",
        event -> {
          throw new IllegalStateException("no");
        });
    try (LambdaClient functions = world.configure(LambdaClient.builder()).build()) {
      var answer =
          functions.invoke(call -> call.functionName("twice").payload(SdkBytes.fromUtf8String("{\"number\":21}")));
      assertEquals("{\"is\":42}", answer.payload().asUtf8String());
      var failed = functions.invoke(call -> call.functionName("fails").payload(SdkBytes.fromUtf8String("{}")));
      assertEquals("Unhandled", failed.functionError());
      assertEquals(
          Map.of("errorType", "java.lang.IllegalStateException", "errorMessage", "no"),
          Json.parseObject(failed.payload().asUtf8String()));
    }
  }

  @Test
  void a_world_that_is_closed_has_no_functions_left() {
    world.function("one", event -> null);
    world.removeFunction("one");
    world.function("two", event -> null);
    world.close();
    assertEquals(Map.of("functions", List.of()), world.control("GET", "/functions", null));
  }

  @Test
  void a_name_that_is_none_is_refused_in_the_servers_words() {
    ControlException refused = assertThrows(ControlException.class, () -> world.function("a:b:c", event -> null));
    assertEquals("'a:b:c' is no function's name.", refused.getMessage());
  }
}

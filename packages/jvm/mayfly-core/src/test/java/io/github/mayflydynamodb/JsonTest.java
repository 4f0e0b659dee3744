package io.github.mayflydynamodb;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.math.BigDecimal;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

@DisplayName("JSON")
class JsonTest {
  @Test
  void values_are_unchanged_after_printing_and_reading() {
    Map<String, Object> all = new TreeMap<>();
    all.put("a", Arrays.asList(1L, -2.5, "\"<\u00e4\n>", true, null));
    all.put("b", Map.of("c", List.of(), "d", Map.of()));
    assertEquals(all, Json.parseObject(Json.print(all)));
  }

  @Test
  void numbers_sets_and_objects_of_other_classes_can_be_printed() {
    assertEquals("[1.50,3]", Json.print(List.of(new BigDecimal("1.50"), (short) 3)));
    assertEquals("{\"a\":[1],\"b\":\"PT1H\"}", Json.print(new TreeMap<>(Map.of("a", Set.of(1), "b", java.time.Duration.ofHours(1)))));
    assertEquals("null", Json.print(null));
  }

  @Test
  void text_that_is_not_an_object_is_read_as_an_empty_object() {
    for (String text : List.of("", "<html>", "[1]", "7", "{\"a\":", "{\"a\"}", "null")) {
      assertEquals(Map.of(), Json.parseObject(text), text);
    }
  }
}

package io.github.mayflydynamodb;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import com.google.gson.JsonParseException;
import com.google.gson.ToNumberPolicy;
import java.util.List;
import java.util.Map;

/** JSON as Java's own values: Map, List, String, Long or Double, Boolean, null. */
final class Json {
  private static final Gson GSON =
      new GsonBuilder()
          .disableHtmlEscaping()
          .serializeNulls()
          .setObjectToNumberStrategy(ToNumberPolicy.LONG_OR_DOUBLE)
          .create();

  private Json() {}

  static String print(Object value) {
    return GSON.toJson(value);
  }

  static Object parse(String text) {
    return GSON.fromJson(text, Object.class);
  }

  /** Empty if the text is no JSON object. */
  static Map<String, Object> parseObject(String text) {
    try {
      return parse(text) instanceof Map<?, ?> map ? object(map) : Map.of();
    } catch (JsonParseException notJson) {
      return Map.of();
    }
  }

  /** Requires: the value came from {@link #parse}; null is an empty object. */
  @SuppressWarnings("unchecked")
  static Map<String, Object> object(Object value) {
    return value == null ? Map.of() : (Map<String, Object>) value;
  }

  /** Requires: the value came from {@link #parse} and is a list of objects; null is an empty list. */
  @SuppressWarnings("unchecked")
  static List<Map<String, Object>> objects(Object value) {
    return value == null ? List.of() : (List<Map<String, Object>>) value;
  }

  static long integer(Object value) {
    return ((Number) value).longValue();
  }
}

package io.github.mayflydynamodb;

import com.google.gson.stream.JsonReader;
import com.google.gson.stream.JsonWriter;
import com.google.gson.stream.MalformedJsonException;
import java.io.EOFException;
import java.io.IOException;
import java.io.StringReader;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Reads and writes JSON as values of Java's own types: Map, List, String, Long or Double, Boolean, null. This class
 * uses only Gson's reader and writer, because a new JVM needs 50 ms to set up Gson's mapping to classes.
 */
final class Json {
  private Json() {}

  /**
   * Returns the JSON of a value. This method also accepts other Numbers and Iterables, and writes all other objects as
   * strings.
   */
  static String print(Object value) {
    StringWriter text = new StringWriter();
    try (JsonWriter out = new JsonWriter(text)) {
      write(out, value);
    } catch (IOException impossible) {
      throw new UncheckedIOException(impossible);
    }
    return text.toString();
  }

  private static void write(JsonWriter out, Object value) throws IOException {
    if (value instanceof Map<?, ?> map) {
      out.beginObject();
      for (Map.Entry<?, ?> member : map.entrySet()) {
        out.name(String.valueOf(member.getKey()));
        write(out, member.getValue());
      }
      out.endObject();
    } else if (value instanceof Iterable<?> list) {
      out.beginArray();
      for (Object element : list) {
        write(out, element);
      }
      out.endArray();
    } else if (value instanceof Number number) {
      out.value(number);
    } else if (value instanceof Boolean bool) {
      out.value(bool);
    } else {
      out.value(value == null ? null : value.toString());
    }
  }

  /** Returns the members of a JSON object; empty if the text is not a JSON object. */
  static Map<String, Object> parseObject(String text) {
    try (JsonReader in = new JsonReader(new StringReader(text))) {
      return read(in) instanceof Map<?, ?> map ? object(map) : Map.of();
    } catch (MalformedJsonException | EOFException notJson) {
      return Map.of();
    } catch (IOException impossible) {
      throw new UncheckedIOException(impossible);
    }
  }

  private static Object read(JsonReader in) throws IOException {
    return switch (in.peek()) {
      case BEGIN_OBJECT -> {
        Map<String, Object> object = new LinkedHashMap<>();
        in.beginObject();
        while (in.hasNext()) {
          object.put(in.nextName(), read(in));
        }
        in.endObject();
        yield object;
      }
      case BEGIN_ARRAY -> {
        List<Object> list = new ArrayList<>();
        in.beginArray();
        while (in.hasNext()) {
          list.add(read(in));
        }
        in.endArray();
        yield list;
      }
      case NUMBER -> number(in.nextString());
      case BOOLEAN -> in.nextBoolean();
      case NULL -> {
        in.nextNull();
        yield null;
      }
      default -> in.nextString();
    };
  }

  private static Number number(String text) {
    try {
      return Long.valueOf(text);
    } catch (NumberFormatException fraction) {
      return Double.valueOf(text);
    }
  }

  /**
   * Returns the value as an object, or an empty map for null. Requires: this class read the value, and the value is an
   * object or null.
   */
  @SuppressWarnings("unchecked")
  static Map<String, Object> object(Object value) {
    return value == null ? Map.of() : (Map<String, Object>) value;
  }

  /**
   * Returns the value as a list of objects, or an empty list for null. Requires: this class read the value, and the
   * value is a list of objects or null.
   */
  @SuppressWarnings("unchecked")
  static List<Map<String, Object>> objects(Object value) {
    return value == null ? List.of() : (List<Map<String, Object>>) value;
  }

  static long integer(Object value) {
    return ((Number) value).longValue();
  }
}

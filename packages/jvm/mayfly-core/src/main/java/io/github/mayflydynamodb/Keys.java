package io.github.mayflydynamodb;

import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.Map;
import software.amazon.awssdk.core.SdkBytes;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/** Converts keys to DynamoDB JSON: {"id":{"S":"1"}}. */
final class Keys {
  private Keys() {}

  /**
   * Converts a key. Each value is a String, a Number, bytes (byte[], ByteBuffer, SdkBytes), an AttributeValue, or
   * DynamoDB JSON such as {@code Map.of("S", "1")}.
   *
   * @throws IllegalArgumentException if a value has another type
   */
  static Map<String, Object> toJson(Map<String, ?> key) {
    Map<String, Object> json = new LinkedHashMap<>();
    key.forEach((name, value) -> json.put(name, attribute(name, value)));
    return json;
  }

  private static Object attribute(String name, Object value) {
    if (value instanceof String text) {
      return Map.of("S", text);
    }
    if (value instanceof BigDecimal number) {
      return Map.of("N", number.toPlainString());
    }
    if (value instanceof Number number) {
      return Map.of("N", number.toString());
    }
    if (value instanceof byte[] bytes) {
      return binary(bytes);
    }
    if (value instanceof ByteBuffer buffer) {
      byte[] bytes = new byte[buffer.remaining()];
      buffer.duplicate().get(bytes);
      return binary(bytes);
    }
    if (value instanceof SdkBytes bytes) {
      return binary(bytes.asByteArray());
    }
    if (value instanceof AttributeValue attribute) {
      return switch (attribute.type()) {
        case S -> Map.of("S", attribute.s());
        case N -> Map.of("N", attribute.n());
        case B -> binary(attribute.b().asByteArray());
        default -> throw unfit(name, attribute);
      };
    }
    if (value instanceof Map<?, ?> json) {
      return json;
    }
    throw unfit(name, value);
  }

  private static Map<String, String> binary(byte[] bytes) {
    return Map.of("B", Base64.getEncoder().encodeToString(bytes));
  }

  private static IllegalArgumentException unfit(String name, Object value) {
    return new IllegalArgumentException(
        "The key attribute " + name + " must be a string, a number or bytes, got " + value + ".");
  }
}

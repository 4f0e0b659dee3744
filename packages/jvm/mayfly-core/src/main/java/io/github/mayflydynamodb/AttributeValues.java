package io.github.mayflydynamodb;

import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import software.amazon.awssdk.core.SdkBytes;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/** Converts DynamoDB JSON to the SDK's attribute values. */
final class AttributeValues {
  private AttributeValues() {}

  static Map<String, AttributeValue> item(Object json) {
    Map<String, AttributeValue> item = new LinkedHashMap<>();
    Json.object(json).forEach((name, value) -> item.put(name, value(value)));
    return item;
  }

  private static AttributeValue value(Object json) {
    Map.Entry<String, Object> only = Json.object(json).entrySet().iterator().next();
    Object value = only.getValue();
    return switch (only.getKey()) {
      case "S" -> AttributeValue.fromS((String) value);
      case "N" -> AttributeValue.fromN((String) value);
      case "B" -> AttributeValue.fromB(bytes(value));
      case "BOOL" -> AttributeValue.fromBool((Boolean) value);
      case "NULL" -> AttributeValue.fromNul((Boolean) value);
      case "SS" -> AttributeValue.fromSs(strings(value));
      case "NS" -> AttributeValue.fromNs(strings(value));
      case "BS" -> AttributeValue.fromBs(((List<?>) value).stream().map(AttributeValues::bytes).toList());
      case "L" -> AttributeValue.fromL(((List<?>) value).stream().map(AttributeValues::value).toList());
      case "M" -> AttributeValue.fromM(item(value));
      default -> throw new IllegalArgumentException("Unknown DynamoDB type " + only.getKey() + ".");
    };
  }

  private static List<String> strings(Object value) {
    return ((List<?>) value).stream().map(String.class::cast).toList();
  }

  private static SdkBytes bytes(Object base64) {
    return SdkBytes.fromByteArray(Base64.getDecoder().decode((String) base64));
  }
}

package io.github.mayflydynamodb;

import java.util.List;
import java.util.Map;
import java.util.Optional;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/**
 * A batch that an event source mapping gave up on.
 *
 * @param uuid the mapping's UUID
 * @param function the function's name
 * @param table the table's name
 * @param stream the stream's ARN
 * @param condition Lambda's name for the reason, such as {@code RetryAttemptsExhausted} or {@code RecordAgeExceeded}
 * @param attempts how many times the function was called with the batch
 * @param error how the last call failed
 * @param records the first records of the batch
 * @param leftOut the number of the batch's records that {@code records} omits
 * @param destination where Lambda would send the failed batch; empty if the mapping has no destination
 */
public record GivenUp(
    String uuid,
    String function,
    String table,
    String stream,
    String condition,
    long attempts,
    FunctionError error,
    List<Lost> records,
    long leftOut,
    Optional<String> destination) {

  /** A stream record in a batch that the mapping gave up on. */
  public record Lost(String sequenceNumber, Change.Event event, Map<String, AttributeValue> key) {}

  static GivenUp of(Map<String, Object> json) {
    return new GivenUp(
        (String) json.get("UUID"),
        (String) json.get("function"),
        (String) json.get("table"),
        (String) json.get("stream"),
        (String) json.get("condition"),
        Json.integer(json.getOrDefault("attempts", 0L)),
        FunctionError.of(json.get("error")),
        Json.objects(json.get("records")).stream().map(GivenUp::lost).toList(),
        Json.integer(json.getOrDefault("left_out", 0L)),
        Optional.ofNullable((String) json.get("destination")));
  }

  private static Lost lost(Map<String, Object> json) {
    return new Lost(
        (String) json.get("sequence_number"),
        Change.Event.valueOf((String) json.get("event")),
        AttributeValues.item(json.get("key")));
  }
}

package io.github.mayflydynamodb;

import java.util.List;
import java.util.Map;

/**
 * The event that an event source mapping sends to a function.
 *
 * @param records the changes, oldest first
 * @param json the whole event, in DynamoDB JSON
 */
public record StreamEvent(List<Change> records, Map<String, Object> json) {
  /** Converts an event from JSON, for a function that receives it as JSON. */
  public static StreamEvent of(Map<String, Object> json) {
    return new StreamEvent(Json.objects(json.get("Records")).stream().map(Change::new).toList(), json);
  }
}

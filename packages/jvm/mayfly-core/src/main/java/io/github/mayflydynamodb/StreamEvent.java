package io.github.mayflydynamodb;

import java.util.List;
import java.util.Map;

/**
 * The event that an event source mapping calls a function with.
 *
 * @param records the changes, oldest first
 * @param json the whole event as it came, in DynamoDB JSON
 */
public record StreamEvent(List<Change> records, Map<String, Object> json) {
  /** Reads the event of a function that takes it as JSON. */
  public static StreamEvent of(Map<String, Object> json) {
    return new StreamEvent(Json.objects(json.get("Records")).stream().map(Change::new).toList(), json);
  }
}

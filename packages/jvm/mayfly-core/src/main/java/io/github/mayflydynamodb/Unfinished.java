package io.github.mayflydynamodb;

import java.util.Map;
import java.util.Optional;

/**
 * An event source mapping that still has records to deliver.
 *
 * @param uuid the mapping's UUID
 * @param functionArn the function's ARN
 * @param eventSourceArn the stream's ARN
 * @param lastProcessingResult the mapping's LastProcessingResult, such as {@code PROBLEM: Function call failed}
 * @param function the function's name
 * @param table the table's name
 * @param retrying the failing batch that the server keeps retrying; empty if the server is not retrying a batch
 * @param registered whether the function is registered
 */
public record Unfinished(
    String uuid,
    String functionArn,
    String eventSourceArn,
    String lastProcessingResult,
    String function,
    String table,
    Optional<Retrying> retrying,
    boolean registered) {

  /**
   * A failing batch that the server keeps retrying.
   *
   * @param attempts the number of attempts so far
   * @param records the number of records in the batch
   * @param error how the last attempt failed
   */
  public record Retrying(long attempts, long records, FunctionError error) {
    private static Retrying of(Map<String, Object> json) {
      return new Retrying(
          Json.integer(json.get("attempts")), Json.integer(json.get("records")), FunctionError.of(json.get("error")));
    }
  }

  static Unfinished of(Map<String, Object> json) {
    return new Unfinished(
        (String) json.get("UUID"),
        (String) json.get("FunctionArn"),
        (String) json.get("EventSourceArn"),
        (String) json.get("LastProcessingResult"),
        (String) json.get("function"),
        (String) json.get("table"),
        Optional.ofNullable(json.get("retrying")).map(retrying -> Retrying.of(Json.object(retrying))),
        !Boolean.FALSE.equals(json.get("registered")));
  }
}

package io.github.mayflydynamodb;

import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * What came of moving a clock. What fell due is deleted, gone from indexes and readable in streams.
 *
 * @param now the account's time afterwards
 * @param expired how many items expired on the way
 * @param tables how many of which table; tables of which none expired are not there
 * @param nextExpiry when something expires next, if anything is going to
 * @param settled with {@link Travel#SETTLE} whether all functions were done; else true
 * @param unfinished the event source mappings that were not: UUID, FunctionArn, EventSourceArn, LastProcessingResult
 */
public record Advanced(
    Instant now,
    long expired,
    Map<String, Long> tables,
    Optional<Instant> nextExpiry,
    boolean settled,
    List<Map<String, Object>> unfinished) {

  static Advanced of(Map<String, Object> answer) {
    Map<String, Long> tables = new TreeMap<>();
    Json.object(answer.get("tables")).forEach((name, count) -> tables.put(name, Json.integer(count)));
    return new Advanced(
        Times.parse(answer.get("now")),
        Json.integer(answer.get("expired")),
        Map.copyOf(tables),
        Times.parseIfAny(answer.get("next_expiry")),
        !Boolean.FALSE.equals(answer.get("settled")),
        Json.objects(answer.get("unfinished")));
  }
}

package io.github.mayflydynamodb;

import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * The result of moving a clock. The expired items are gone from their tables and indexes, and their stream records can
 * be read.
 *
 * @param now the clock's new time
 * @param expired the number of items that expired
 * @param tables the number of items that expired, by table; tables without expired items are omitted
 * @param nextExpiry when the next item expires; empty if no item will expire
 * @param never the number of items whose TTL can never fire, by table and reason
 * @param bornExpired by table, the number of items that were written since the last advance and whose TTL had passed
 *     when they were written
 * @param settled after a settle, whether all records were processed and all jobs ended; without a settle, true
 * @param unfinished after a settle, the event source mappings that still have records to deliver
 * @param givenUp after a settle, the batches that the server gave up on since the last settle
 */
public record Advanced(
    Instant now,
    long expired,
    Map<String, Long> tables,
    Optional<Instant> nextExpiry,
    Map<String, Map<TtlSuspect.Reason, Long>> never,
    Map<String, Long> bornExpired,
    boolean settled,
    List<Unfinished> unfinished,
    List<GivenUp> givenUp) {

  static Advanced of(Map<String, Object> answer) {
    Map<String, Map<TtlSuspect.Reason, Long>> never = new TreeMap<>();
    Json.object(answer.get("never")).forEach((table, reasons) -> never.put(table, TtlStatus.never(reasons)));
    return new Advanced(
        Times.parse(answer.get("now")),
        Json.integer(answer.get("expired")),
        counts(answer.get("tables")),
        Times.parseIfAny(answer.get("next_expiry")),
        Map.copyOf(never),
        counts(answer.get("born_expired")),
        !Boolean.FALSE.equals(answer.get("settled")),
        Json.objects(answer.get("unfinished")).stream().map(Unfinished::of).toList(),
        Json.objects(answer.get("given_up")).stream().map(GivenUp::of).toList());
  }

  private static Map<String, Long> counts(Object json) {
    Map<String, Long> counts = new TreeMap<>();
    Json.object(json).forEach((name, count) -> counts.put(name, Json.integer(count)));
    return Map.copyOf(counts);
  }
}

package io.github.mayflydynamodb;

import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * The result of moving a clock. Expired items are deleted, are gone from the indexes, and have their records in streams.
 *
 * @param now the account's time afterwards
 * @param expired how many items expired on the way
 * @param tables how many items expired, by table; tables without an expired item are left out
 * @param nextExpiry when something expires next, if anything is going to
 * @param never how many items have a TTL that never fires, by table and reason
 * @param bornExpired how many items had already expired when they were written, by table, since the last advance
 * @param settled after a settle, whether every record reached its function; else true
 * @param unfinished after a settle, the event source mappings that are not done
 * @param givenUp after a settle, the batches that were given up since the last settle
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

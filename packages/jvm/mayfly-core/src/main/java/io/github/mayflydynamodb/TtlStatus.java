package io.github.mayflydynamodb;

import java.time.Instant;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * The state of a table's time to live.
 *
 * @param enabled whether TTL is enabled
 * @param attribute the attribute that holds the TTL; empty if TTL is disabled
 * @param mode when expired items are deleted
 * @param pending the number of items that will expire
 * @param due the number of pending items whose TTL has passed
 * @param nextDue when the next item becomes due; empty if no item will expire
 * @param expired the number of items that expired and were deleted since the server started
 * @param bornExpired the number of expired items whose TTL had passed when they were written
 * @param never the number of items whose TTL can never fire, by reason
 * @param suspects the latest items whose TTL can never fire or had passed when they were written; at most ten
 */
public record TtlStatus(
    boolean enabled,
    Optional<String> attribute,
    TtlMode mode,
    long pending,
    long due,
    Optional<Instant> nextDue,
    long expired,
    long bornExpired,
    Map<TtlSuspect.Reason, Long> never,
    List<TtlSuspect> suspects) {

  static TtlStatus of(String table, Map<String, Object> answer) {
    return new TtlStatus(
        "ENABLED".equals(answer.get("status")),
        Optional.ofNullable((String) answer.get("attribute")),
        TtlMode.valueOf(answer.get("mode").toString().toUpperCase(Locale.ROOT)),
        Json.integer(answer.get("pending")),
        Json.integer(answer.get("due")),
        Times.parseIfAny(answer.get("next_due")),
        Json.integer(answer.get("expired")),
        Json.integer(answer.get("born_expired")),
        never(answer.get("never")),
        suspects(table, answer));
  }

  static List<TtlSuspect> suspects(String table, Map<String, Object> answer) {
    return Json.objects(answer.get("suspects")).stream().map(suspect -> TtlSuspect.of(table, suspect)).toList();
  }

  static Map<TtlSuspect.Reason, Long> never(Object json) {
    Map<TtlSuspect.Reason, Long> counts = new EnumMap<>(TtlSuspect.Reason.class);
    Json.object(json).forEach((reason, count) -> counts.put(TtlSuspect.Reason.of(reason), Json.integer(count)));
    return Map.copyOf(counts);
  }
}

package io.github.mayflydynamodb;

import java.time.Instant;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * The state of a table's TTL.
 *
 * @param enabled whether UpdateTimeToLive has enabled it
 * @param attribute the TTL attribute, if it is enabled
 * @param mode when an expired item is deleted
 * @param pending how many items will expire
 * @param due how many items have expired but are not deleted yet
 * @param nextDue when the next item expires
 * @param expired how many items were deleted since the server started
 * @param bornExpired how many of them had already expired when they were written
 * @param never how many items have a TTL that never fires, by reason
 * @param suspects the latest items with a TTL that never fires or had passed when they were written; at most ten
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

package io.github.mayflydynamodb;

import java.time.Instant;
import java.util.Map;
import java.util.Optional;

/**
 * How a table's TTL stands.
 *
 * @param enabled whether UpdateTimeToLive has switched it on
 * @param attribute the TTL attribute, if it is enabled
 * @param mode {@code exact}, {@code aws} or {@code manual}
 * @param pending all items that will expire
 * @param due those whose time has come and that are still there
 * @param nextDue when the next one's time comes
 * @param expired how many were deleted since the server began
 * @param bornExpired how many of them were due already when they were written
 */
public record TtlStatus(
    boolean enabled,
    Optional<String> attribute,
    String mode,
    long pending,
    long due,
    Optional<Instant> nextDue,
    long expired,
    long bornExpired) {

  static TtlStatus of(Map<String, Object> answer) {
    return new TtlStatus(
        "ENABLED".equals(answer.get("status")),
        Optional.ofNullable((String) answer.get("attribute")),
        (String) answer.get("mode"),
        Json.integer(answer.get("pending")),
        Json.integer(answer.get("due")),
        Times.parseIfAny(answer.get("next_due")),
        Json.integer(answer.get("expired")),
        Json.integer(answer.get("born_expired")));
  }
}

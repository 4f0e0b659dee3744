package io.github.mayflydynamodb;

import java.time.Instant;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * Why an item is still there, or is not.
 *
 * @param reason in a word
 * @param expiresAt when it goes, or has gone, if that is known
 * @param message the same in a sentence
 */
public record Explanation(Reason reason, Optional<Instant> expiresAt, String message) {
  public enum Reason {
    /** Its time has come; it is about to be deleted, or waits for a sweep. */
    DUE,
    NOT_DUE,
    /** Due, but the mode is aws: {@code expiresAt} says until when it stays. */
    DELAYED,
    /** It was deleted at its TTL; known of the table's last 1,000. */
    EXPIRED,
    /** It was written with a TTL that had passed already, and gone at once. */
    BORN_EXPIRED,
    NO_ITEM,
    /** It lacks the table's TTL attribute. */
    NO_ATTRIBUTE,
    /** The attribute is of another type than N. */
    NOT_A_NUMBER,
    /** The number cannot be meant as seconds since 1970. */
    MILLISECONDS,
    /** More than five years ago: DynamoDB ignores that. */
    TOO_OLD,
    TTL_DISABLED
  }

  static Explanation of(Map<String, Object> answer) {
    return new Explanation(
        Reason.valueOf(answer.get("reason").toString().toUpperCase(Locale.ROOT)),
        Times.parseIfAny(answer.get("expires_at")),
        (String) answer.get("message"));
  }
}

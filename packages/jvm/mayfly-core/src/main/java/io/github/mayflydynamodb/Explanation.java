package io.github.mayflydynamodb;

import java.time.Instant;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/**
 * Explains why an item still exists, or why it does not.
 *
 * @param reason the reason
 * @param expiresAt when the item will be or was deleted, if that is known
 * @param message the reason as a sentence
 */
public record Explanation(Reason reason, Optional<Instant> expiresAt, String message) {
  /** A reason why an item still exists, or why it does not. */
  public enum Reason {
    /** The item has expired. It is about to be deleted, or waits for a sweep. */
    DUE,
    /** The item has not expired yet. */
    NOT_DUE,
    /** The item has expired, but the TTL mode is aws, so the item is deleted later, at {@code expiresAt}. */
    DELAYED,
    /** The item was deleted because of its TTL. The server remembers the last 1,000 such items of a table. */
    EXPIRED,
    /** The item's TTL had passed when the item was written, so the item was deleted immediately. */
    BORN_EXPIRED,
    /** There is no such item. */
    NO_ITEM,
    /** The item does not have the table's TTL attribute. */
    NO_ATTRIBUTE,
    /** The TTL attribute is not a number. */
    NOT_A_NUMBER,
    /** The TTL looks like milliseconds instead of seconds, so it never fires. */
    MILLISECONDS,
    /** The TTL is more than five years in the past, so DynamoDB ignores it. */
    TOO_OLD,
    /** The table has no TTL. */
    TTL_DISABLED
  }

  static Explanation of(Map<String, Object> answer) {
    return new Explanation(
        Reason.valueOf(answer.get("reason").toString().toUpperCase(Locale.ROOT)),
        Times.parseIfAny(answer.get("expires_at")),
        (String) answer.get("message"));
  }
}

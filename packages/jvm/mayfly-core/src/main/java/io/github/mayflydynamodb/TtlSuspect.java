package io.github.mayflydynamodb;

import java.time.Instant;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/**
 * An item whose TTL is probably wrong: the TTL can never fire, or it had passed when the item was written.
 *
 * @param table the table's name
 * @param key the item's key
 * @param reason why the TTL is probably wrong
 * @param message the reason as a sentence, with the TTL and what to do
 * @param at when the item was written; empty if that was before the server started
 */
public record TtlSuspect(
    String table, Map<String, AttributeValue> key, Reason reason, String message, Optional<Instant> at) {
  /** A reason why a TTL is probably wrong. */
  public enum Reason {
    /** The TTL is a number that looks like milliseconds or a smaller unit, so it never fires. */
    MILLISECONDS,
    /** The TTL is a string, so it never fires. */
    STRING,
    /** The TTL is neither a number nor a string, so it never fires. */
    WRONG_TYPE,
    /** The TTL is a time more than five years in the past, or a negative number, so it never fires. */
    TOO_OLD,
    /** The TTL had passed when the item was written, so the item expired immediately. */
    BORN_EXPIRED;

    static Reason of(Object name) {
      return valueOf(name.toString().toUpperCase(Locale.ROOT));
    }
  }

  static TtlSuspect of(String table, Map<String, Object> json) {
    return new TtlSuspect(
        table,
        AttributeValues.item(json.get("key")),
        Reason.of(json.get("reason")),
        (String) json.get("message"),
        Times.parseIfAny(json.get("at")));
  }

  /** Returns a string such as {@code carts {"id":{"S":"1"}}: Its TTL is a string …}. */
  @Override
  public String toString() {
    return table + " " + Json.print(Keys.toJson(key)) + ": " + message;
  }
}

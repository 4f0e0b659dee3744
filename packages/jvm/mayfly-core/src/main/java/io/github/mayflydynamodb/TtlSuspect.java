package io.github.mayflydynamodb;

import java.time.Instant;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/**
 * An item whose TTL never fires, or that had already expired when it was written.
 *
 * @param table the table's name
 * @param key the item's key
 * @param reason why it never fires, or {@link Reason#BORN_EXPIRED}
 * @param message the same in a sentence
 * @param at when it was written; empty for an item that is older than the server's process
 */
public record TtlSuspect(
    String table, Map<String, AttributeValue> key, Reason reason, String message, Optional<Instant> at) {
  /** What is wrong with a TTL. */
  public enum Reason {
    /** A number in the far future that looks like milliseconds, or even smaller units. */
    MILLISECONDS,
    /** A string instead of a number. */
    STRING,
    /** Neither a number nor a string. */
    WRONG_TYPE,
    /** More than five years ago, or negative: DynamoDB ignores it. */
    TOO_OLD,
    /** It had passed when the item was written, so the item expired at once. */
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

  /** Such as {@code carts {"id":{"S":"1"}}: Its TTL is a string …}. */
  @Override
  public String toString() {
    return table + " " + Json.print(Keys.toJson(key)) + ": " + message;
  }
}

package io.github.mayflydynamodb;

import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/**
 * An item that will expire.
 *
 * @param key the item's key
 * @param due the first instant after the item's TTL
 * @param expiresAt when the item will be deleted; empty: at the next {@link Ttl#sweep}
 */
public record Upcoming(Map<String, AttributeValue> key, Instant due, Optional<Instant> expiresAt) {
  static Upcoming of(Map<String, Object> item) {
    return new Upcoming(
        AttributeValues.item(item.get("key")), Times.parse(item.get("due")), Times.parseIfAny(item.get("expires_at")));
  }
}

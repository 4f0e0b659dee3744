package io.github.mayflydynamodb;

import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/**
 * An item that is going to expire.
 *
 * @param due the first instant after its TTL
 * @param expiresAt when it is deleted; empty if only a sweep will
 */
public record Upcoming(Map<String, AttributeValue> key, Instant due, Optional<Instant> expiresAt) {
  static Upcoming of(Map<String, Object> item) {
    return new Upcoming(
        AttributeValues.item(item.get("key")), Times.parse(item.get("due")), Times.parseIfAny(item.get("expires_at")));
  }
}

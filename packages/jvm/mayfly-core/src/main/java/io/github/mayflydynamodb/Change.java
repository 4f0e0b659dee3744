package io.github.mayflydynamodb;

import java.math.BigDecimal;
import java.time.Instant;
import java.util.Map;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/** A change of an item: a record of a table's stream. */
public final class Change {
  /** What was done to the item. */
  public enum Event {
    INSERT,
    MODIFY,
    REMOVE
  }

  private final Map<String, Object> json;

  Change(Map<String, Object> json) {
    this.json = json;
  }

  /** What was done to the item. */
  public Event event() {
    return Event.valueOf((String) json.get("eventName"));
  }

  /** Whether the service changed the item, as TTL does; otherwise a client did. */
  public boolean byService() {
    Map<String, Object> identity = Json.object(json.get("userIdentity"));
    // Lambda's events spell the member in lower case.
    return "Service".equals(identity.getOrDefault("Type", identity.get("type")));
  }

  /** When the item changed, by the account's clock; in whole seconds, as in DynamoDB Streams. */
  public Instant at() {
    Object seconds = dynamodb().get("ApproximateCreationDateTime");
    return Instant.ofEpochMilli(new BigDecimal(seconds.toString()).movePointRight(3).longValue());
  }

  /** The record's number, which grows within a shard. */
  public String sequenceNumber() {
    return (String) dynamodb().get("SequenceNumber");
  }

  public Map<String, AttributeValue> keys() {
    return AttributeValues.item(dynamodb().get("Keys"));
  }

  /** The item before; empty for an INSERT, or if the stream keeps no old images. */
  public Map<String, AttributeValue> oldImage() {
    return AttributeValues.item(dynamodb().get("OldImage"));
  }

  /** The item after; empty for a REMOVE, or if the stream keeps no new images. */
  public Map<String, AttributeValue> newImage() {
    return AttributeValues.item(dynamodb().get("NewImage"));
  }

  /** The whole record as it came, in DynamoDB JSON: eventID, eventName, dynamodb, userIdentity and so on. */
  public Map<String, Object> json() {
    return json;
  }

  private Map<String, Object> dynamodb() {
    return Json.object(json.get("dynamodb"));
  }

  /** Such as {@code REMOVE by service {"id":{"S":"1"}}}. */
  @Override
  public String toString() {
    return event() + " by " + (byService() ? "service " : "user ") + Json.print(dynamodb().get("Keys"));
  }
}

package io.github.mayflydynamodb;

import java.math.BigDecimal;
import java.time.Instant;
import java.util.Map;
import software.amazon.awssdk.services.dynamodb.model.AttributeValue;

/** A stream record, which describes a change to an item. */
public final class Change {
  /** The kind of a change. */
  public enum Event {
    INSERT,
    MODIFY,
    REMOVE
  }

  private final Map<String, Object> json;

  Change(Map<String, Object> json) {
    this.json = json;
  }

  /** Returns the kind of the change. */
  public Event event() {
    return Event.valueOf((String) json.get("eventName"));
  }

  /**
   * Returns true if the service made the change because the item had expired. Returns false if a client made the
   * change.
   */
  public boolean byService() {
    Map<String, Object> identity = Json.object(json.get("userIdentity"));
    // In Lambda events, the name of the member begins with a lowercase letter.
    return "Service".equals(identity.getOrDefault("Type", identity.get("type")));
  }

  /** Returns the time of the change on the account's clock, in whole seconds as in DynamoDB Streams. */
  public Instant at() {
    Object seconds = dynamodb().get("ApproximateCreationDateTime");
    return Instant.ofEpochMilli(new BigDecimal(seconds.toString()).movePointRight(3).longValue());
  }

  /** Returns the record's sequence number, which increases within a shard. */
  public String sequenceNumber() {
    return (String) dynamodb().get("SequenceNumber");
  }

  /** Returns the item's key. */
  public Map<String, AttributeValue> keys() {
    return AttributeValues.item(dynamodb().get("Keys"));
  }

  /** Returns the item before the change; empty for an INSERT, or if the stream has no old images. */
  public Map<String, AttributeValue> oldImage() {
    return AttributeValues.item(dynamodb().get("OldImage"));
  }

  /** Returns the item after the change; empty for a REMOVE, or if the stream has no new images. */
  public Map<String, AttributeValue> newImage() {
    return AttributeValues.item(dynamodb().get("NewImage"));
  }

  /** Returns the whole record in DynamoDB JSON: eventID, eventName, dynamodb, userIdentity and so on. */
  public Map<String, Object> json() {
    return json;
  }

  private Map<String, Object> dynamodb() {
    return Json.object(json.get("dynamodb"));
  }

  /** Returns a string such as {@code REMOVE by service {"id":{"S":"1"}}}. */
  @Override
  public String toString() {
    return event() + " by " + (byService() ? "service " : "user ") + Json.print(dynamodb().get("Keys"));
  }
}

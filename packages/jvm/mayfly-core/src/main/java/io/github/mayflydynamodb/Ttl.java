package io.github.mayflydynamodb;

import java.time.Duration;
import java.util.List;
import java.util.Map;

/** A table's time to live: when expired items are deleted, what expires next, and why an item still exists. */
public final class Ttl {
  private final Control control;
  private final String table;
  private final String path;

  Ttl(Control control, String table) {
    this.control = control;
    this.table = table;
    this.path = "/ttl/" + Control.segment(table);
  }

  /** Returns the state of the table's time to live. */
  public TtlStatus status() {
    return TtlStatus.of(table, control.call("GET", path, null));
  }

  /** Sets the mode to exact, the default: items are deleted at the instant at which they expire. */
  public TtlStatus exact() {
    return setMode(Map.of("mode", "exact"));
  }

  /** Sets the mode to aws: items are deleted late, as on AWS, 10 to 28 minutes after they expire. */
  public TtlStatus aws() {
    return setMode(Map.of("mode", "aws"));
  }

  /**
   * Sets the mode to aws: items are deleted late, each after a random delay between {@code least} and {@code most}, in
   * whole seconds. The same seed gives the same delays.
   */
  public TtlStatus aws(Duration least, Duration most, long seed) {
    return setMode(
        Map.of("mode", "aws", "delay_seconds", List.of(least.toSeconds(), most.toSeconds()), "seed", seed));
  }

  /** Sets the mode to manual: expired items stay until {@link #sweep()} deletes them. */
  public TtlStatus manual() {
    return setMode(Map.of("mode", "manual"));
  }

  /** Deletes all expired items now, in every mode, and returns the number of items deleted. */
  public long sweep() {
    return Json.integer(control.call("POST", path + "/sweep", Map.of()).get("expired"));
  }

  /** Returns the next items that will expire, soonest first; {@code limit} is 1 to 10,000. */
  public List<Upcoming> upcoming(int limit) {
    return Json.objects(control.call("GET", path + "/upcoming?limit=" + limit, null).get("items")).stream()
        .map(Upcoming::of)
        .toList();
  }

  /**
   * Explains why an item still exists, or why it does not.
   *
   * @param key the item's key: strings, numbers, bytes or the SDK's AttributeValues
   */
  public Explanation explain(Map<String, ?> key) {
    return Explanation.of(control.call("POST", path + "/explain", Map.of("key", Keys.toJson(key))));
  }

  private TtlStatus setMode(Map<String, Object> body) {
    return TtlStatus.of(table, control.call("PUT", path, body));
  }
}

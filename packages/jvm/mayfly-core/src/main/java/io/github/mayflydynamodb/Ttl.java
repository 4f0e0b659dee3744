package io.github.mayflydynamodb;

import java.time.Duration;
import java.util.List;
import java.util.Map;

/** A table's time to live: when expired items are deleted, what expires next, and why an item is still there. */
public final class Ttl {
  private final Control control;
  private final String table;
  private final String path;

  Ttl(Control control, String table) {
    this.control = control;
    this.table = table;
    this.path = "/ttl/" + Control.segment(table);
  }

  public TtlStatus status() {
    return TtlStatus.of(table, control.call("GET", path, null));
  }

  /** Expired items are deleted at once: the default. */
  public TtlStatus exact() {
    return setMode(Map.of("mode", "exact"));
  }

  /** Expired items are deleted late, as on AWS: by 10 to 28 minutes. */
  public TtlStatus aws() {
    return setMode(Map.of("mode", "aws"));
  }

  /** Expired items are deleted late, by a delay from {@code least} to {@code most} in whole seconds, drawn from a seed. */
  public TtlStatus aws(Duration least, Duration most, long seed) {
    return setMode(
        Map.of("mode", "aws", "delay_seconds", List.of(least.toSeconds(), most.toSeconds()), "seed", seed));
  }

  /** Expired items are deleted by {@link #sweep()}. */
  public TtlStatus manual() {
    return setMode(Map.of("mode", "manual"));
  }

  /** Deletes all expired items now, in any mode, and returns how many there were. */
  public long sweep() {
    return Json.integer(control.call("POST", path + "/sweep", Map.of()).get("expired"));
  }

  /** The items that expire next, soonest first; at most {@code limit}, which is 1 to 10,000. */
  public List<Upcoming> upcoming(int limit) {
    return Json.objects(control.call("GET", path + "/upcoming?limit=" + limit, null).get("items")).stream()
        .map(Upcoming::of)
        .toList();
  }

  /**
   * Explains why an item is still there, or why it is not.
   *
   * @param key its key attributes: strings, numbers, bytes or the SDK's AttributeValues
   */
  public Explanation explain(Map<String, ?> key) {
    return Explanation.of(control.call("POST", path + "/explain", Map.of("key", Keys.toJson(key))));
  }

  private TtlStatus setMode(Map<String, Object> body) {
    return TtlStatus.of(table, control.call("PUT", path, body));
  }
}

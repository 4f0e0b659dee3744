package io.github.mayflydynamodb;

import java.time.Duration;
import java.util.List;
import java.util.Map;

/** One table's expiries: when what is due is deleted, what goes next, and why an item has not gone. */
public final class Ttl {
  private final Control control;
  private final String path;

  Ttl(Control control, String table) {
    this.control = control;
    this.path = "/ttl/" + Control.segment(table);
  }

  public TtlStatus status() {
    return TtlStatus.of(control.call("GET", path, null));
  }

  /** What is due goes at once, as from the beginning. */
  public TtlStatus exact() {
    return setMode(Map.of("mode", "exact"));
  }

  /** What is due goes later, as on AWS: ten to 28 minutes. */
  public TtlStatus aws() {
    return setMode(Map.of("mode", "aws"));
  }

  /** What is due goes later by at least the one and at most the other, in whole seconds, as the seed will have it. */
  public TtlStatus aws(Duration least, Duration most, long seed) {
    return setMode(
        Map.of("mode", "aws", "delay_seconds", List.of(least.toSeconds(), most.toSeconds()), "seed", seed));
  }

  /** What is due goes when {@link #sweep()} says so. */
  public TtlStatus manual() {
    return setMode(Map.of("mode", "manual"));
  }

  /** Deletes all that is due now, in any mode; answers how many. */
  public long sweep() {
    return Json.integer(control.call("POST", path + "/sweep", Map.of()).get("expired"));
  }

  /** What goes next, the soonest first; at most {@code limit}, which is 1 to 10,000. */
  public List<Upcoming> upcoming(int limit) {
    return Json.objects(control.call("GET", path + "/upcoming?limit=" + limit, null).get("items")).stream()
        .map(Upcoming::of)
        .toList();
  }

  /**
   * Why the item is still there, or is not.
   *
   * @param key its key attributes: strings, numbers, bytes or the SDK's AttributeValues
   */
  public Explanation explain(Map<String, ?> key) {
    return Explanation.of(control.call("POST", path + "/explain", Map.of("key", Keys.toJson(key))));
  }

  private TtlStatus setMode(Map<String, Object> body) {
    return TtlStatus.of(control.call("PUT", path, body));
  }
}

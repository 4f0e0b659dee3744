package io.github.mayflydynamodb;

import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Which change to wait for, and how long: {@code Wanted.remove().byService().within(Duration.ofSeconds(1))}.
 *
 * <p>If nothing else is said, a change that the table's stream has already counts, too: so what an advance has brought
 * about is found after the advance. A table without a stream tells only what happens from the call on.
 */
public final class Wanted {
  private static final Duration TIMEOUT_DEFAULT = Duration.ofSeconds(5);

  private final String event;
  private final String by;
  private final Duration timeout;
  private final Instant since;

  private Wanted(String event, String by, Duration timeout, Instant since) {
    this.event = event;
    this.by = by;
    this.timeout = timeout;
    this.since = since;
  }

  /** Any change. */
  public static Wanted change() {
    return new Wanted(null, null, TIMEOUT_DEFAULT, Instant.EPOCH);
  }

  public static Wanted insert() {
    return of(Change.Event.INSERT);
  }

  public static Wanted modify() {
    return of(Change.Event.MODIFY);
  }

  public static Wanted remove() {
    return of(Change.Event.REMOVE);
  }

  private static Wanted of(Change.Event event) {
    return new Wanted(event.name(), null, TIMEOUT_DEFAULT, Instant.EPOCH);
  }

  /** What a client did. */
  public Wanted byUser() {
    return new Wanted(event, "user", timeout, since);
  }

  /** What the service did: it deletes what has expired. */
  public Wanted byService() {
    return new Wanted(event, "service", timeout, since);
  }

  /** How long to wait, in real time: at most 600 s, and 5 s if nothing is said. */
  public Wanted within(Duration time) {
    return new Wanted(event, by, time, since);
  }

  /** Only changes from this time of the account's clock on; the table needs a stream. */
  public Wanted since(Instant time) {
    return new Wanted(event, by, timeout, time);
  }

  /** Only changes that come after the call. */
  public Wanted fromNow() {
    return new Wanted(event, by, timeout, null);
  }

  Duration timeout() {
    return timeout;
  }

  /** Whether the look back is only the default, so that a table without a stream may do without. */
  boolean looksBackIfItCan() {
    return Instant.EPOCH.equals(since);
  }

  Map<String, Object> toJson() {
    Map<String, Object> json = new LinkedHashMap<>();
    if (event != null) {
      json.put("event", event);
    }
    if (by != null) {
      json.put("by", by);
    }
    if (since != null) {
      json.put("since", Times.print(since));
    }
    json.put("timeout_seconds", Times.seconds(timeout));
    return json;
  }
}

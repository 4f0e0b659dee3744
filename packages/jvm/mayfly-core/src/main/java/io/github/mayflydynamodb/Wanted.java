package io.github.mayflydynamodb;

import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Describes the change that an await waits for, and the time limit: {@code
 * Wanted.remove().byService().within(Duration.ofSeconds(1))}. Each method returns a changed copy.
 *
 * <p>By default, an await also finds earlier changes that are in the table's stream, for example those that an advance
 * made before the call. Without a stream, an await finds only changes after the call.
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

  /** Selects any change. */
  public static Wanted change() {
    return new Wanted(null, null, TIMEOUT_DEFAULT, Instant.EPOCH);
  }

  /** Selects the creation of the item. */
  public static Wanted insert() {
    return of(Change.Event.INSERT);
  }

  /** Selects a change to an existing item. */
  public static Wanted modify() {
    return of(Change.Event.MODIFY);
  }

  /** Selects the item's deletion or expiry. */
  public static Wanted remove() {
    return of(Change.Event.REMOVE);
  }

  private static Wanted of(Change.Event event) {
    return new Wanted(event.name(), null, TIMEOUT_DEFAULT, Instant.EPOCH);
  }

  /** Selects only changes that a client made. */
  public Wanted byUser() {
    return new Wanted(event, "user", timeout, since);
  }

  /** Selects only changes that the service made: deletions of expired items. */
  public Wanted byService() {
    return new Wanted(event, "service", timeout, since);
  }

  /** Sets the time limit, in real time: at most 600 s. Default: 5 s. */
  public Wanted within(Duration time) {
    return new Wanted(event, by, time, since);
  }

  /** Selects only changes since {@code time} on the account's clock. The table needs a stream. */
  public Wanted since(Instant time) {
    return new Wanted(event, by, timeout, time);
  }

  /** Selects only changes after the call. */
  public Wanted fromNow() {
    return new Wanted(event, by, timeout, null);
  }

  Duration timeout() {
    return timeout;
  }

  /** Returns whether an await on a table without a stream may ignore earlier changes instead of failing. */
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

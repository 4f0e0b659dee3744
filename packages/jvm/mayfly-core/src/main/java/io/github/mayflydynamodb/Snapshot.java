package io.github.mayflydynamodb;

import java.time.Instant;
import java.util.Map;

/** The saved state of a world: tables, items, indexes, pending expiries, streams and clock. */
public final class Snapshot implements AutoCloseable {
  private final Control control;
  private final String id;

  Snapshot(Control control, String id) {
    this.control = control;
    this.id = id;
  }

  /** Returns the snapshot's id, for {@link World#restore}. */
  public String id() {
    return id;
  }

  /**
   * Restores the saved state, including the clock, and returns the clock's time. A snapshot can be restored any number
   * of times.
   */
  public Instant restore() {
    return Times.parse(control.call("POST", "/snapshots/" + id + "/restore", Map.of()).get("now"));
  }

  /** Deletes the snapshot. */
  public void delete() {
    control.call("DELETE", "/snapshots/" + id, Map.of());
  }

  /** Equivalent to {@link #delete()}. */
  @Override
  public void close() {
    delete();
  }
}

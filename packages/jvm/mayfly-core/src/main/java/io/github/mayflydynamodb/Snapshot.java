package io.github.mayflydynamodb;

import java.time.Instant;
import java.util.Map;

/** All of a world as it was: tables, items, indexes, pending expiries, streams and clock. */
public final class Snapshot implements AutoCloseable {
  private final Control control;
  private final String id;

  Snapshot(Control control, String id) {
    this.control = control;
    this.id = id;
  }

  public String id() {
    return id;
  }

  /** Brings it back, as often as you like; answers what the clock says now. */
  public Instant restore() {
    return Times.parse(control.call("POST", "/snapshots/" + id + "/restore", Map.of()).get("now"));
  }

  public void delete() {
    control.call("DELETE", "/snapshots/" + id, Map.of());
  }

  /** The same as {@link #delete()}. */
  @Override
  public void close() {
    delete();
  }
}

package io.github.mayflydynamodb;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;

/**
 * Stops the expiry of an item just before the item is deleted, so that a test can write to the item at that moment. An
 * advance blocks at the failpoint until the failpoint is released, so run the advance in another thread.
 */
public final class Failpoint implements AutoCloseable {
  private static final long POLL_NANOS = 1_000_000;

  private final Control control;
  private final Map<String, Object> body;
  private boolean released;

  Failpoint(Control control, String table, Map<String, ?> key) {
    this.control = control;
    this.body = Map.of("table", table, "key", Keys.toJson(key));
    control.call("PUT", "/failpoints", body);
  }

  /** Returns whether the item's expiry has reached the failpoint and is blocked by it. */
  public boolean isWaiting() {
    return Json.objects(control.call("GET", "/failpoints", null).get("failpoints")).stream()
        .anyMatch(
            point ->
                point.get("table").equals(body.get("table"))
                    && point.get("key").equals(body.get("key"))
                    && "waiting".equals(point.get("state")));
  }

  /**
   * Waits until the item's expiry has reached the failpoint.
   *
   * @param timeout the time limit, in real time
   * @throws MayflyException if no expiry reaches the failpoint in time
   */
  public void awaitWaiting(Duration timeout) {
    long deadline = System.nanoTime() + timeout.toNanos();
    while (!isWaiting()) {
      if (System.nanoTime() - deadline >= 0) {
        throw new MayflyException(
            "No expiry reached the failpoint " + Json.print(body) + " within " + timeout
                + ": advance the clock past the item's TTL in another thread.");
      }
      LockSupport.parkNanos(POLL_NANOS);
    }
  }

  /** Lets the expiry continue. The server checks the item again, and does not delete an item that was renewed. */
  public void release() {
    control.call("DELETE", "/failpoints", body);
    released = true;
  }

  /** Releases the failpoint, unless {@link #release()}, a reset or a restore has released it. */
  @Override
  public void close() {
    if (released) {
      return;
    }
    try {
      release();
    } catch (ControlException gone) {
      if (gone.httpStatus() != 404) {
        throw gone;
      }
    }
  }
}

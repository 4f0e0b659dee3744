package io.github.mayflydynamodb;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;

/**
 * Stops one item's expiry between the moment it is due and its deletion, so that a test can write in between. An
 * advance waits at it: call that in another thread.
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

  /** Whether an expiry stands here now. */
  public boolean isWaiting() {
    return Json.objects(control.call("GET", "/failpoints", null).get("failpoints")).stream()
        .anyMatch(
            point ->
                point.get("table").equals(body.get("table"))
                    && point.get("key").equals(body.get("key"))
                    && "waiting".equals(point.get("state")));
  }

  /**
   * Returns when an expiry stands here.
   *
   * @throws MayflyException if none does in time, which is real time
   */
  public void awaitWaiting(Duration timeout) {
    long deadline = System.nanoTime() + timeout.toNanos();
    while (!isWaiting()) {
      if (System.nanoTime() - deadline >= 0) {
        throw new MayflyException(
            "no expiry came to the failpoint " + Json.print(body) + " within " + timeout
                + ": advance the clock past its TTL in another thread.");
      }
      LockSupport.parkNanos(POLL_NANOS);
    }
  }

  /** The item is looked at again: if it is still due it goes. */
  public void release() {
    control.call("DELETE", "/failpoints", body);
    released = true;
  }

  /** Releases it, unless that was done, or a reset or restore did. */
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

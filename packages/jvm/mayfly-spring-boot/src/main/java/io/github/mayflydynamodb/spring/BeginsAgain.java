package io.github.mayflydynamodb.spring;

import io.github.mayflydynamodb.ControlException;
import io.github.mayflydynamodb.MayflyException;
import io.github.mayflydynamodb.Snapshot;
import io.github.mayflydynamodb.World;
import java.util.stream.Collectors;

/**
 * Before each test method, restores the world to its state before the first test method. The world then has the tables
 * that the application created when it started, no items from other tests, and the original time.
 */
class BeginsAgain {
  private final World world;
  private final boolean wanted;
  private Snapshot beginning;
  private long logMark;

  BeginsAgain(World world, boolean wanted) {
    this.world = world;
    this.wanted = wanted;
  }

  synchronized void beforeTest() {
    logMark = world.server().logMark();
    if (!wanted) {
      return;
    }
    if (beginning == null || !restored()) {
      beginning = world.snapshot();
    }
  }

  /**
   * Restores the snapshot and returns true. Returns false if the snapshot no longer exists because a test has reset the
   * world.
   */
  private boolean restored() {
    try {
      beginning.restore();
      return true;
    } catch (ControlException refused) {
      if (refused.httpStatus() == 404) {
        return false;
      }
      throw refused;
    }
  }

  /**
   * Returns the server's log since the test began, and the items whose TTL can never fire or had passed when they were
   * written.
   */
  synchronized String report(String test) {
    String log = world.server().logSince(logMark);
    String report =
        "Mayfly's log for the failed test " + test + ", " + world + ":\n" + (log.isEmpty() ? "(empty)\n" : log);
    try {
      String suspects = world.ttlSuspects().stream().map(each -> "  " + each + "\n").collect(Collectors.joining());
      return suspects.isEmpty() ? report : report + "Mayfly found items with a suspect TTL:\n" + suspects;
    } catch (MayflyException gone) {
      return report; // The server has died, which is why the test failed.
    }
  }

  World world() {
    return world;
  }
}

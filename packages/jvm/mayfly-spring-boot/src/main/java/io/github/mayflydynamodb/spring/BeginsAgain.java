package io.github.mayflydynamodb.spring;

import io.github.mayflydynamodb.ControlException;
import io.github.mayflydynamodb.MayflyException;
import io.github.mayflydynamodb.Snapshot;
import io.github.mayflydynamodb.World;
import java.util.stream.Collectors;

/**
 * Lets each test method begin with what the first began with: the tables that the application made at its start, no
 * items of other tests, the clock as it was.
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

  /** False: a test has reset the world, and the snapshot went with all else. */
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

  /** The server's log since the test began, and items whose TTL never fires or had passed when they were written. */
  synchronized String report(String test) {
    String log = world.server().logSince(logMark);
    String report =
        "Mayfly's log while " + test + " failed, with " + world + ":\n" + (log.isEmpty() ? "(nothing)\n" : log);
    try {
      String suspects = world.ttlSuspects().stream().map(each -> "  " + each + "\n").collect(Collectors.joining());
      return suspects.isEmpty() ? report : report + "Mayfly found items with a suspect TTL:\n" + suspects;
    } catch (MayflyException gone) {
      return report; // The test has failed for this reason.
    }
  }

  World world() {
    return world;
  }
}

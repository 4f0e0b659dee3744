package io.github.mayflydynamodb.spring;

import io.github.mayflydynamodb.ControlException;
import io.github.mayflydynamodb.Snapshot;
import io.github.mayflydynamodb.World;

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

  /** What the server has logged since the test began. */
  synchronized String log() {
    return world.server().logSince(logMark);
  }

  World world() {
    return world;
  }
}

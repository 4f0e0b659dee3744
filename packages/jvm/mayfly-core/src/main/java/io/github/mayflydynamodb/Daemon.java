package io.github.mayflydynamodb;

/** Starts threads that do not keep the JVM alive. */
final class Daemon {
  private Daemon() {}

  static Thread start(String name, Runnable work) {
    Thread thread = new Thread(work, name);
    thread.setDaemon(true);
    thread.start();
    return thread;
  }
}

package io.github.mayflydynamodb;

import java.util.Map;

/** Describes how a process ended. */
final class Ending {
  private static final Map<Integer, String> SIGNALS =
      Map.of(
          1, "SIGHUP", 2, "SIGINT", 3, "SIGQUIT", 4, "SIGILL", 6, "SIGABRT", 8, "SIGFPE", 9, "SIGKILL", 11, "SIGSEGV",
          15, "SIGTERM");
  private static final int LINUX_SIGBUS = 7;
  private static final int MACOS_SIGBUS = 10;

  private Ending() {}

  /** Returns a predicate such as "was killed by SIGKILL" or "exited with status 3". */
  static String of(int status, String platform) {
    if (Platform.isWindows(platform)) {
      // A crash has a status such as 0xC0000005, which is negative as an int.
      return "exited with status " + (status < 0 ? "0x%08X".formatted(status) : status);
    }
    int signal = status - 128; // the JVM reports a signal as 128 + its number
    boolean bus = signal == (Platform.isMacos(platform) ? MACOS_SIGBUS : LINUX_SIGBUS);
    String name = bus ? "SIGBUS" : SIGNALS.get(signal);
    return name == null ? "exited with status " + status : "was killed by " + name;
  }
}

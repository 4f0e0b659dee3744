package io.github.mayflydynamodb;

import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Starts a program, and explains why a program could not be started. */
final class Launch {
  private static final Duration BUSY_MAX = Duration.ofSeconds(5);
  private static final long BUSY_POLL_NANOS = 10_000_000;
  private static final Pattern ERROR = Pattern.compile("\\berror[=:] ?(\\d+)"); // The second form is Java 25's.

  // Linux, macOS: ETXTBSY. A process that another thread is starting can have the newly unpacked file open for a moment.
  private static final Set<Integer> POSIX_BUSY = Set.of(26);
  // Windows: ERROR_ACCESS_DENIED and ERROR_SHARING_VIOLATION. A virus scanner can lock a newly unpacked file for a moment.
  private static final Set<Integer> WINDOWS_BUSY = Set.of(5, 32);
  // Windows: ERROR_VIRUS_INFECTED and ERROR_VIRUS_DELETED.
  private static final Set<Integer> WINDOWS_INFECTED = Set.of(225, 226);
  private static final int KILLED = 128 + 9; // the status that the JVM reports after SIGKILL

  private Launch() {}

  /**
   * Starts a program. While the file is busy, tries again for up to five seconds.
   *
   * @throws MayflyException if the program cannot be started; the message says what to do
   */
  static Process start(Path program, List<String> command) {
    // If the system rejects the file, the JVM runs it with sh, which could do anything with the bytes of a program.
    otherPlatform(program, Platform.current())
        .ifPresent(
            sentence -> {
              throw new MayflyException(sentence);
            });
    long begin = System.nanoTime();
    while (true) {
      try {
        return new ProcessBuilder(command).start();
      } catch (IOException failed) {
        boolean stop = System.nanoTime() - begin >= BUSY_MAX.toNanos() || Thread.currentThread().isInterrupted();
        if (stop || !isBusy(failed.getMessage(), Platform.current())) {
          throw new MayflyException(sentence(program, failed.getMessage(), Platform.current()), failed);
        }
        LockSupport.parkNanos(BUSY_POLL_NANOS);
      }
    }
  }

  /** Returns whether a start can succeed a moment later. */
  static boolean isBusy(String message, String platform) {
    return (Platform.isWindows(platform) ? WINDOWS_BUSY : POSIX_BUSY).contains(error(message));
  }

  /** Returns a sentence that says why a program cannot be started and what to do. */
  static String sentence(Path program, String message, String platform) {
    String failed = "Cannot start " + program + " (" + message + "): ";
    if (!Platform.isWindows(platform)) {
      return failed + "if its file system is mounted noexec, copy it elsewhere and set MAYFLY_BINARY to the copy.";
    }
    int error = error(message);
    return failed
        + (WINDOWS_BUSY.contains(error) || WINDOWS_INFECTED.contains(error)
            ? "a virus scanner probably holds or blocks the file: exclude its directory from scans, or set"
                + " MAYFLY_BINARY to a program in an excluded directory."
            : "set MAYFLY_BINARY to a program that Windows can start.");
  }

  /** Returns a sentence that says why a program ended before it was ready, and what to do if that is known. */
  static String ended(Path program, int status, String platform) {
    String ended = "mayfly " + Ending.of(status, platform) + " before it was ready.";
    return Platform.isMacos(platform) && status == KILLED
        ? ended + " macOS kills a program whose signature is invalid: in that case, sign it with codesign --force --sign - "
            + program + "."
        : ended;
  }

  /** Returns a sentence if a program was built for another platform and cannot run on this one. */
  static Optional<String> otherPlatform(Path program, String platform) {
    return Platform.of(program)
        .filter(built -> !Platform.canRun(built, platform))
        .map(
            built ->
                program + " is a program for " + built + ", not for " + platform
                    + ": set MAYFLY_BINARY to a mayfly program for this machine.");
  }

  private static int error(String message) {
    Matcher matcher = ERROR.matcher(String.valueOf(message));
    return matcher.find() ? Integer.parseInt(matcher.group(1)) : -1;
  }
}

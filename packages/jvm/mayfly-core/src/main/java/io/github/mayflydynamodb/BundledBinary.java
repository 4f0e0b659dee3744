package io.github.mayflydynamodb;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.URI;
import java.net.URL;
import java.nio.file.AtomicMoveNotSupportedException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.FileSystemException;
import java.nio.file.FileSystemNotFoundException;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.nio.file.attribute.UserPrincipal;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;

/**
 * The program in the jar mayfly-binary-VERSION-PLATFORM.jar. The program is unpacked once, into the first of {@link
 * CacheDirectories} that is usable: {@code DIRECTORY/<SHA-256>/mayfly}.
 *
 * <p>On Linux and macOS, the directory belongs to the user and is created with mode 0700. On Windows, it is in the
 * user's profile, which protects it from other users. The program's size and checksum are checked before it is moved
 * there, and before each use, because other users may have had access to the directory earlier. The check takes 0.3 s
 * for 21 MB in a JVM that has just started.
 */
final class BundledBinary {
  private static final String PACKAGE = "io/github/mayflydynamodb/binary/";
  private static final Path LINUX_SELF = Path.of("/proc/self"); // the current user owns this directory
  private static final boolean POSIX = FileSystems.getDefault().supportedFileAttributeViews().contains("posix");
  private static final Set<PosixFilePermission> OWNER_ONLY = PosixFilePermissions.fromString("rwx------");
  private static final Duration LOCKED_MAX = Duration.ofSeconds(5);
  private static final long LOCKED_POLL_NANOS = 50_000_000;
  private static final int WINDOWS_PATH_MAX = 259; // CreateProcess does not start a program with a longer path.

  private final ClassLoader classes;
  private final List<Path> directories;
  private final String platform;
  private final Duration lockedMax;

  BundledBinary(ClassLoader classes, List<Path> directories, String platform) {
    this(classes, directories, platform, LOCKED_MAX);
  }

  BundledBinary(ClassLoader classes, List<Path> directories, String platform, Duration lockedMax) {
    this.classes = classes;
    this.directories = directories;
    this.platform = platform;
    this.lockedMax = lockedMax;
  }

  String platform() {
    return platform;
  }

  /** Returns the platforms for which the class path has a program. */
  List<String> platformsOnClassPath() {
    return Platform.WITH_PROGRAM.stream().filter(each -> classes.getResource(factsOf(each)) != null).toList();
  }

  /**
   * Returns the unpacked program, or empty if the class path has no program for this platform.
   *
   * @throws MayflyException if the program in the jar is damaged or no directory is usable
   */
  Optional<Path> extract() {
    URL facts = classes.getResource(factsOf(platform));
    return facts == null ? Optional.empty() : Optional.of(new Jar(facts.toString()).unpacked());
  }

  private static String factsOf(String platform) {
    return PACKAGE + platform + "/mayfly.properties";
  }

  /** A step that a locked file can make fail. */
  private interface Step {
    void run() throws IOException;
  }

  /** The jar with the program for this platform. */
  private final class Jar {
    private final String url;
    private final String sha256;
    private final long bytes;

    /**
     * @param url the URL of mayfly.properties in the jar
     */
    Jar(String url) {
      this.url = url;
      Properties properties = new Properties();
      try (InputStream in = open(factsOf(platform))) {
        properties.load(in);
        sha256 = properties.getProperty("sha256", "");
        bytes = Long.parseLong(properties.getProperty("bytes", ""));
      } catch (IOException | IllegalArgumentException malformed) {
        throw damaged("mayfly.properties cannot be read: " + malformed);
      }
      if (!sha256.matches("[0-9a-f]{64}")) {
        throw damaged("mayfly.properties has no SHA-256");
      }
    }

    Path unpacked() {
      List<String> reasons = new ArrayList<>();
      IOException last = null;
      for (Path directory : directories) {
        try {
          return unpacked(directory.resolve(sha256));
        } catch (IOException unusable) {
          reasons.add(unusable.getClass() == IOException.class ? unusable.getMessage() : unusable.toString());
          last = unusable;
        }
      }
      throw new MayflyException(
          "Cannot unpack mayfly from its jar ("
              + (reasons.isEmpty() ? "there is no cache directory" : String.join("; ", reasons))
              + "): set XDG_CACHE_HOME to a directory in which files can be created and programs can run, or set"
              + " MAYFLY_BINARY to an unpacked program.",
          last);
    }

    private Path unpacked(Path directory) throws IOException {
      Path program = directory.resolve(Platform.programName(platform));
      int length = program.toString().length();
      if (Platform.isWindows(platform) && length > WINDOWS_PATH_MAX) {
        throw new IOException(
            program + " has " + length + " characters, but Windows starts only programs whose path has at most "
                + WINDOWS_PATH_MAX);
      }
      createOwnDirectory(directory);
      if (!isIntact(program)) {
        unpack(program);
      }
      if (!Files.isExecutable(program)) {
        throw new IOException(program + " cannot be executed: its file system is probably mounted noexec");
      }
      return program;
    }

    private boolean isIntact(Path program) throws IOException {
      if (!Files.isRegularFile(program, LinkOption.NOFOLLOW_LINKS) || Files.size(program) != bytes) {
        return false;
      }
      MessageDigest digest = sha256();
      unlocked(
          program,
          () -> {
            digest.reset();
            try (InputStream in = Files.newInputStream(program)) {
              byte[] buffer = new byte[1 << 16];
              for (int read; (read = in.read(buffer)) > 0; ) {
                digest.update(buffer, 0, read);
              }
            }
          });
      return HexFormat.of().formatHex(digest.digest()).equals(sha256);
    }

    private void unpack(Path program) throws IOException {
      Path part = Files.createTempFile(program.getParent(), "mayfly", ".part");
      try {
        copyTo(part);
        if (POSIX) {
          Files.setPosixFilePermissions(part, OWNER_ONLY);
        }
        unlocked(program, () -> install(part, program));
      } finally {
        deleteIfPossible(part);
      }
    }

    /** Copies the program, and checks its size and checksum. */
    private void copyTo(Path part) throws IOException {
      MessageDigest digest = sha256();
      long copied = 0;
      try (InputStream in = open(PACKAGE + platform + "/" + Platform.programName(platform));
          OutputStream out = Files.newOutputStream(part)) {
        byte[] buffer = new byte[1 << 16];
        for (int read; (read = read(in, buffer)) > 0; copied += read) {
          if (copied + read > bytes) {
            throw damaged("it has more than " + bytes + " bytes");
          }
          digest.update(buffer, 0, read);
          out.write(buffer, 0, read);
        }
      }
      if (copied != bytes) {
        throw damaged("it has " + copied + " bytes, expected " + bytes);
      }
      String found = HexFormat.of().formatHex(digest.digest());
      if (!found.equals(sha256)) {
        throw damaged("its SHA-256 is " + found + ", expected " + sha256);
      }
    }

    private InputStream open(String resource) {
      InputStream in = classes.getResourceAsStream(resource);
      if (in == null) {
        throw damaged(resource + " is missing");
      }
      return in;
    }

    private int read(InputStream in, byte[] buffer) {
      try {
        return in.read(buffer);
      } catch (IOException unreadable) {
        throw damaged(unreadable.toString());
      }
    }

    private MayflyException damaged(String reason) {
      return new MayflyException(
          "The mayfly program in " + file() + " is damaged (" + reason
              + "): delete this file, so that your build downloads it again, or set MAYFLY_BINARY to another mayfly"
              + " program.");
    }

    /** Returns the path of the jar, or its URL if it is not a file. */
    private String file() {
      String file = url.replaceFirst("^jar:(.*)!/.*", "$1");
      try {
        return Path.of(URI.create(file)).toString();
      } catch (IllegalArgumentException | FileSystemNotFoundException notAFile) {
        return file;
      }
    }

    /** Moves the program to its place. On Windows, this fails if another JVM has unpacked and started the program. */
    private void install(Path part, Path program) throws IOException {
      try {
        Files.move(part, program, StandardCopyOption.ATOMIC_MOVE);
      } catch (AtomicMoveNotSupportedException unsupported) {
        throw unsupported;
      } catch (FileSystemException failed) {
        if (!isIntact(program)) {
          throw failed;
        }
      }
    }
  }

  /**
   * Runs a step that uses a file. On Windows, a virus scanner can lock a new file for a moment, so the step is repeated
   * there while it fails, for up to LOCKED_MAX.
   */
  private void unlocked(Path file, Step step) throws IOException {
    long begin = System.nanoTime();
    while (true) {
      try {
        step.run();
        return;
      } catch (NoSuchFileException | AtomicMoveNotSupportedException permanent) {
        throw permanent;
      } catch (FileSystemException locked) {
        if (!Platform.isWindows(platform)) {
          throw locked;
        }
        if (System.nanoTime() - begin >= lockedMax.toNanos() || Thread.currentThread().isInterrupted()) {
          throw new IOException(
              file + " is locked, probably by a virus scanner or by a program that runs it (" + locked + ")", locked);
        }
      }
      LockSupport.parkNanos(LOCKED_POLL_NANOS);
    }
  }

  /**
   * Creates a directory and its parent for the current user. If one exists already, checks on Linux and macOS that the
   * user owns it, and removes all permissions of other users from it.
   */
  private static void createOwnDirectory(Path directory) throws IOException {
    if (!POSIX) {
      Files.createDirectories(directory);
      return;
    }
    Path cache = directory.getParent().getParent();
    if (!Files.isDirectory(cache)) { // Before Java 20, createDirectories rejects a link to a directory.
      Files.createDirectories(cache);
    }
    for (Path each : new Path[] {directory.getParent(), directory}) {
      try {
        Files.createDirectory(each, PosixFilePermissions.asFileAttribute(OWNER_ONLY));
      } catch (FileAlreadyExistsException there) {
        PosixFileAttributes found =
            Files.readAttributes(each, PosixFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
        if (!found.isDirectory() || !found.owner().equals(currentUser())) {
          throw new IOException(each + " is not a directory that belongs to this user");
        }
        if (!OWNER_ONLY.containsAll(found.permissions())) {
          Files.setPosixFilePermissions(each, OWNER_ONLY);
        }
      }
    }
  }

  private static UserPrincipal currentUser() throws IOException {
    return Files.exists(LINUX_SELF) ? Files.getOwner(LINUX_SELF) : ownerOfNewFile();
  }

  /** Returns the current user, who owns each new file. This also works on macOS. */
  static UserPrincipal ownerOfNewFile() throws IOException {
    Path file = Files.createTempFile("mayfly", ".owner");
    try {
      return Files.getOwner(file);
    } finally {
      deleteIfPossible(file);
    }
  }

  private static void deleteIfPossible(Path file) {
    try {
      Files.deleteIfExists(file);
    } catch (IOException locked) {
      // The program can be used even if this file stays.
    }
  }

  private static MessageDigest sha256() {
    try {
      return MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException everyJvmHasIt) {
      throw new IllegalStateException(everyJvmHasIt);
    }
  }
}

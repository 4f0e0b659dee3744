package io.github.mayflydynamodb;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFileAttributes;
import java.nio.file.attribute.PosixFilePermission;
import java.nio.file.attribute.PosixFilePermissions;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Map;
import java.util.Optional;
import java.util.Properties;
import java.util.Set;

/**
 * The program in the jar mayfly-binary-…. The program is unpacked once into the user's cache, or into the temporary
 * directory if the cache is not writable:
 *
 * <pre>{@code
 * ${XDG_CACHE_HOME:-~/.cache}/mayfly/<SHA-256>/mayfly
 * <temporary directory>/mayfly-<user>/<SHA-256>/mayfly
 * }</pre>
 *
 * The directory belongs to the user and is created with mode 0700. The file's checksum is checked before the file is
 * moved there, and before each use, because other users may have had access to the directory earlier. The check takes
 * 0.3 s for 21 MB in a JVM that has just started.
 */
final class BundledBinary {
  // The current user owns this directory. Only Linux has it, and the jars contain only programs for Linux.
  private static final Path SELF = Path.of("/proc/self");
  private static final Set<PosixFilePermission> OWNER_ONLY = PosixFilePermissions.fromString("rwx------");

  private final ClassLoader classes;
  private final Map<String, String> environment;
  private final String platform;

  BundledBinary(ClassLoader classes, Map<String, String> environment, String platform) {
    this.classes = classes;
    this.environment = environment;
    this.platform = platform;
  }

  String platform() {
    return platform;
  }

  /** Returns the unpacked program, or empty if the class path has no program for this platform. */
  Optional<Path> extract() {
    String resource = "io/github/mayflydynamodb/binary/" + platform + "/mayfly";
    try (InputStream facts = classes.getResourceAsStream(resource + ".properties")) {
      if (facts == null) {
        return Optional.empty();
      }
      Properties properties = new Properties();
      properties.load(facts);
      return Optional.of(
          unpacked(resource, properties.getProperty("sha256"), Long.parseLong(properties.getProperty("bytes"))));
    } catch (IOException failed) {
      throw new MayflyException(
          "Cannot unpack mayfly from its jar (" + failed
              + "): make ~/.cache or the temporary directory writable, or set MAYFLY_BINARY to an unpacked program.",
          failed);
    }
  }

  private Path unpacked(String resource, String sha256, long bytes) throws IOException {
    IOException first = null;
    for (Path cache : new Path[] {userCache(), temporary()}) {
      if (!cache.isAbsolute()) {
        continue; // The path is relative if the user has no home directory.
      }
      try {
        Path directory = ownDirectory(cache.resolve(sha256));
        Path program = directory.resolve("mayfly");
        if (!Files.isRegularFile(program, LinkOption.NOFOLLOW_LINKS)
            || Files.size(program) != bytes
            || !checksum(program).equals(sha256)) {
          unpack(resource, sha256, program);
        }
        return program;
      } catch (IOException unusable) {
        first = first == null ? unusable : first;
      }
    }
    throw first;
  }

  private Path userCache() {
    String xdg = environment.get("XDG_CACHE_HOME");
    Path cache = xdg == null || xdg.isBlank() ? Path.of(System.getProperty("user.home"), ".cache") : Path.of(xdg);
    return cache.resolve("mayfly");
  }

  private static Path temporary() {
    return Path.of(System.getProperty("java.io.tmpdir"), "mayfly-" + System.getProperty("user.name"));
  }

  /**
   * Creates a directory and its parent with mode 0700. If either directory already exists, checks that the user owns
   * it, and removes all permissions of other users from it.
   */
  private static Path ownDirectory(Path directory) throws IOException {
    Files.createDirectories(directory.getParent().getParent());
    for (Path each : new Path[] {directory.getParent(), directory}) {
      try {
        Files.createDirectory(each, PosixFilePermissions.asFileAttribute(OWNER_ONLY));
      } catch (FileAlreadyExistsException there) {
        PosixFileAttributes found =
            Files.readAttributes(each, PosixFileAttributes.class, LinkOption.NOFOLLOW_LINKS);
        if (!found.isDirectory() || !found.owner().equals(Files.getOwner(SELF))) {
          throw new IOException(each + " is not a directory that belongs to this user");
        }
        if (!OWNER_ONLY.containsAll(found.permissions())) {
          Files.setPosixFilePermissions(each, OWNER_ONLY);
        }
      }
    }
    return directory;
  }

  private void unpack(String resource, String sha256, Path program) throws IOException {
    Path part = Files.createTempFile(program.getParent(), "mayfly", ".part");
    try {
      try (InputStream in = classes.getResourceAsStream(resource)) {
        if (in == null) {
          throw new IOException("the jar has no " + resource);
        }
        Files.copy(in, part, StandardCopyOption.REPLACE_EXISTING);
      }
      String found = checksum(part);
      if (!found.equals(sha256)) {
        throw new IOException("its SHA-256 is " + found + ", expected " + sha256);
      }
      Files.setPosixFilePermissions(part, OWNER_ONLY);
      Files.move(part, program, StandardCopyOption.ATOMIC_MOVE);
    } finally {
      Files.deleteIfExists(part);
    }
  }

  static String checksum(Path file) throws IOException {
    try (InputStream in = Files.newInputStream(file)) {
      MessageDigest digest = MessageDigest.getInstance("SHA-256");
      byte[] buffer = new byte[1 << 16];
      for (int read; (read = in.read(buffer)) > 0; ) {
        digest.update(buffer, 0, read);
      }
      return HexFormat.of().formatHex(digest.digest());
    } catch (NoSuchAlgorithmException everyJvmHasIt) {
      throw new UncheckedIOException(new IOException(everyJvmHasIt));
    }
  }
}

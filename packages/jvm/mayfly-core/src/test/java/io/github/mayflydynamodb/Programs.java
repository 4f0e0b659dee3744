package io.github.mayflydynamodb;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/** Files that tests use as programs. */
final class Programs {
  private Programs() {}

  /** Writes an executable file. */
  static Path write(Path program, byte[] bytes) throws IOException {
    Files.createDirectories(program.getParent());
    Files.write(program, bytes);
    if (!program.toFile().setExecutable(true)) {
      throw new IOException("cannot make " + program + " executable");
    }
    return program;
  }

  static Path write(Path program, String text) throws IOException {
    return write(program, text.getBytes(StandardCharsets.UTF_8));
  }

  /** Returns the header of a program for a platform. The header is complete, but no code follows. */
  static byte[] header(String platform) {
    return switch (platform) {
      case "linux-x86_64" -> elf(62);
      case "linux-arm64" -> elf(183);
      case "linux-riscv64" -> elf(243);
      case "macos-arm64" -> machO(0x0100_000c);
      case "macos-x86_64" -> machO(0x0100_0007);
      case "windows-x86_64" -> pe(0x8664);
      case "windows-arm64" -> pe(0xaa64);
      default -> throw new IllegalArgumentException(platform);
    };
  }

  private static ByteBuffer bytes(int size) {
    return ByteBuffer.allocate(size).order(ByteOrder.LITTLE_ENDIAN);
  }

  private static byte[] elf(int machine) {
    return bytes(64)
        .put(new byte[] {0x7f, 'E', 'L', 'F', 2, 1, 1})
        .putShort(16, (short) 2)
        .putShort(18, (short) machine)
        .putInt(20, 1)
        .array();
  }

  private static byte[] machO(int cpu) {
    return bytes(32).putInt(0xfeed_facf).putInt(cpu).putInt(8, 0).putInt(12, 2).array();
  }

  private static byte[] pe(int machine) {
    int offset = 128;
    return bytes(512)
        .put(new byte[] {'M', 'Z'})
        .putInt(60, offset)
        .put(offset, new byte[] {'P', 'E', 0, 0})
        .putShort(offset + 4, (short) machine)
        .array();
  }
}

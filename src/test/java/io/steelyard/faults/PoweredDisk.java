package io.steelyard.faults;

import static org.junit.jupiter.api.Assumptions.abort;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.locks.LockSupport;

/**
 * A disk whose power can be taken: what was written and not synchronized is lost then. An ext4 file
 * system on a file. Where it cannot be mounted the test is reported as not run.
 */
final class PoweredDisk implements AutoCloseable {
  private static final long SIZE = 3L << 30; // of which only what is used takes room
  private static final int ATTEMPTS = 100;
  private static final long PAUSE_NANOS = 50_000_000;

  private final Path image;
  private final Path mounted;
  private final Path power;

  private PoweredDisk(Path image, Path mounted, Path power) {
    this.image = image;
    this.mounted = mounted;
    this.power = power;
  }

  /**
   * @param dir has no other's files
   */
  static PoweredDisk make(Path dir) throws IOException {
    Path power = CProgram.compile("power.c", dir);
    Path image = dir.resolve("disk.image");
    try (RandomAccessFile file = new RandomAccessFile(image.toFile(), "rw")) {
      file.setLength(SIZE);
    }
    Path mounted = Files.createDirectory(dir.resolve("disk"));
    PoweredDisk disk = new PoweredDisk(image, mounted, power);
    try {
      Shell.run("mkfs.ext4", "-q", image.toString());
      disk.mount();
    } catch (IOException e) {
      abort("NOT RUN: no file system may be mounted here: " + e.getMessage());
    }
    return disk;
  }

  Path path() {
    return mounted;
  }

  private void mount() throws IOException {
    Shell.run("mount", "-o", "loop", image.toString(), mounted.toString());
  }

  /** From now on, until it is back, everything that touches it fails. */
  void goesOff() throws IOException {
    Shell.run(power.toString(), mounted.toString());
  }

  /** With what had been synchronized. Nobody may have a file of it open any more. */
  void comesBack() throws IOException {
    unmount();
    mount();
  }

  private void unmount() throws IOException {
    for (int attempt = 1; ; attempt++) {
      try {
        Shell.run("umount", mounted.toString());
        return;
      } catch (IOException e) {
        if (attempt == ATTEMPTS) {
          throw e;
        }
        // a process that was killed may not be gone entirely
        LockSupport.parkNanos(PAUSE_NANOS);
      }
    }
  }

  @Override
  public void close() throws IOException {
    unmount();
  }
}

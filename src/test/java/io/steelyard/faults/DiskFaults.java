package io.steelyard.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.abort;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The disk of PostgreSQL's data, or of its log, is full for a while. It is a file system of its own
 * in memory, which only root may mount: without that, this is reported as not run.
 */
class DiskFaults {
  private static final int DISK_MB = 320;
  private static final int BLOCK = 64 * 1024;
  private static final long FULL_MS = 10_000;
  private static final long RECOVERED_WITHIN_S = 60;

  /** So that its log does not take the disk by itself. */
  private static final Map<String, String> SETTINGS =
      Map.of("max_wal_size", "96MB", "min_wal_size", "32MB", "shared_buffers", "32MB");

  @TempDir Path temp;
  private Path disk;

  @BeforeEach
  void mount() throws IOException {
    Path made = Files.createDirectory(temp.resolve("disk"));
    try {
      Shell.run("mount", "-t", "tmpfs", "-o", "size=" + DISK_MB + "m", "tmpfs", made.toString());
    } catch (IOException e) {
      abort("NOT RUN: no file system may be mounted here: " + e.getMessage());
    }
    disk = made;
  }

  @AfterEach
  void unmount() throws IOException {
    if (disk != null) {
      Shell.run("umount", "--lazy", disk.toString());
    }
  }

  private Path fill() throws IOException {
    Path ballast = disk.resolve("ballast");
    byte[] block = new byte[BLOCK];
    try (OutputStream out = Files.newOutputStream(ballast)) {
      while (true) {
        out.write(block);
      }
    } catch (IOException e) {
      assertThat(e).hasMessageContaining("No space left");
    }
    return ballast;
  }

  @Test
  void theDiskOfTheData() throws Exception {
    run(Scene.open("disk-data", disk.resolve("cluster"), temp.resolve("wal"), SETTINGS));
  }

  /** PostgreSQL itself gives up then, and is started again as a supervisor would do. */
  @Test
  void theDiskOfTheLog() throws Exception {
    run(Scene.open("disk-wal", temp.resolve("cluster"), disk.resolve("wal"), SETTINGS));
  }

  private void run(Scene scene) throws Exception {
    try (scene) {
      scene.node().start();
      try (EventLoad load = scene.load()) {
        scene.awaitMore(load, 2000, 60);
        Path ballast = fill();
        Scene.until("a refusal", 120, () -> load.statuses().containsKey(503));
        scene.say("full: first 503 after %d acknowledged", load.acknowledged());
        Thread.sleep(FULL_MS);
        Files.delete(ballast);
        long freedAt = System.nanoTime();
        long acknowledged = load.acknowledged();
        Scene.until(
            "acknowledged again",
            RECOVERED_WITHIN_S,
            () -> {
              if (!scene.postgres().isRunning()) {
                scene.say("PostgreSQL had ended; started: %s", scene.postgres().tryStart());
              }
              return load.acknowledged() > acknowledged + 100;
            });
        scene.say("freed: acknowledging again after %d ms", msSince(freedAt));
        scene.awaitMore(load, 1000, 60);
        scene.check(load);
      }
    }
  }

  private static long msSince(long nanos) {
    return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - nanos);
  }
}

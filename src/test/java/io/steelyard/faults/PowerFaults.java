package io.steelyard.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.db.CrashablePostgres;
import io.steelyard.support.PostgresSupport;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The power goes: the disk keeps what was synchronized and nothing else, and the service and
 * PostgreSQL end without a word; also where PostgreSQL confirms what is not on the disk yet, which
 * must be seen.
 */
class PowerFaults {
  private static final int CUTS = Integer.getInteger("faults.powerCuts", 20);
  private static final int EVENTS_MAX = 3000;
  private static final String MARK = "was here before the power went";
  private static final Map<String, String> SETTINGS = Map.of("max_wal_size", "512MB");

  /** The log is written every 10 s, or when its buffers are full. */
  private static final Map<String, String> UNSAFE =
      Map.of(
          "max_wal_size", "512MB",
          "synchronous_commit", "off",
          "wal_writer_delay", "10s",
          "wal_writer_flush_after", "1GB",
          "wal_buffers", "128MB");

  @TempDir Path temp;

  @Test
  void nothingAcknowledgedIsLost() throws Exception {
    SplittableRandom random = new SplittableRandom(Scene.SEED);
    try (PoweredDisk disk = PoweredDisk.make(temp);
        Scene scene = scene("power", disk, SETTINGS)) {
      Node node = scene.node();
      node.start();
      try (EventLoad load = scene.load()) {
        for (int i = 0; i < CUTS; i++) {
          scene.awaitMore(load, 1 + random.nextInt(EVENTS_MAX), 60);
          cut(scene, node, disk, load);
        }
        scene.awaitMore(load, 1000, 60);
        scene.check(load);
      }
      scene.say("%d times without power", CUTS);
    }
  }

  @Test
  void whatIsConfirmedTooEarlyIsMissed() throws Exception {
    try (PoweredDisk disk = PoweredDisk.make(temp);
        Scene scene = scene("power-unsafe", disk, UNSAFE)) {
      Node node = scene.node();
      node.start();
      PostgresSupport.execute(scene.postgres().endpoint(), "CHECKPOINT"); // the schema stays
      try (EventLoad load = scene.load()) {
        scene.awaitMore(load, 1000, 60);
        cut(scene, node, disk, load);
        scene.awaitMore(load, 1000, 60);
        load.finish();
      }
      Scene.until(
          "everything counted",
          60,
          () -> scene.query("SELECT count(*) FROM event_batch").equals("0"));
      List<String> faults = scene.faults();
      scene.say("with synchronous_commit off: %d faults", faults.size());
      assertThat(faults).anyMatch(fault -> fault.startsWith("acknowledged and lost: "));
    }
  }

  private static Scene scene(String name, PoweredDisk disk, Map<String, String> settings) {
    return Scene.open(name, disk.path().resolve("cluster"), null, settings);
  }

  private static void cut(Scene scene, Node node, PoweredDisk disk, EventLoad load)
      throws Exception {
    CrashablePostgres postgres = scene.postgres();
    Path written = disk.path().resolve("written");
    Path unwritten = disk.path().resolve("unwritten");
    postgres.kill(
        () -> {
          try {
            write(written);
            Files.writeString(unwritten, MARK);
            disk.goesOff();
          } catch (IOException e) {
            throw new UncheckedIOException(e);
          }
        });
    node.process().kill();
    load.databaseIsAway();
    disk.comesBack();
    assertThat(written).hasContent(MARK);
    assertThat(Files.exists(unwritten) ? Files.readString(unwritten) : "").isNotEqualTo(MARK);
    load.databaseIsBack();
    postgres.start();
    node.start();
  }

  private static void write(Path file) throws IOException {
    try (FileChannel channel =
        FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
      channel.write(ByteBuffer.wrap(MARK.getBytes(StandardCharsets.UTF_8)));
      channel.force(true);
    }
  }
}

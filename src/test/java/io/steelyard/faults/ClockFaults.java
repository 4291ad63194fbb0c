package io.steelyard.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.steelyard.json.Json;
import io.steelyard.support.RawHttp;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The time of day jumps ahead and back under the service while events come in. It does so for the
 * service's process, through a library that is loaded before the others; PostgreSQL and the senders
 * keep theirs. Without a C compiler this is reported as not run.
 */
class ClockFaults {
  private static final long[] JUMPS_S = {30, -30, 3600, 0, -7200, 0, 7200, -3600, 0};
  private static final Duration NEAR = Duration.ofSeconds(20);

  @TempDir Path temp;
  private Path library;
  private Path offset;

  @BeforeEach
  void compile() throws Exception {
    Path source = temp.resolve("clock.c");
    try (InputStream in = ClockFaults.class.getResourceAsStream("/faults/clock.c")) {
      Files.copy(in, source);
    }
    library = temp.resolve("clock.so");
    offset = temp.resolve("clock.offset");
    assumeTrue(compiled(source), "NOT RUN: there is no C compiler here");
    jumpTo(0);
  }

  private boolean compiled(Path source) throws InterruptedException {
    try {
      return new ProcessBuilder(
                  "cc", "-shared", "-fPIC", "-O2", "-o", library.toString(), source.toString())
              .inheritIO()
              .start()
              .waitFor()
          == 0;
    } catch (IOException e) {
      return false; // it cannot be started
    }
  }

  /** In place: the file is mapped. */
  private void jumpTo(long seconds) throws IOException {
    ByteBuffer bytes = ByteBuffer.allocate(Long.BYTES).order(ByteOrder.nativeOrder());
    bytes.putLong(0, seconds);
    if (Files.exists(offset)) {
      try (SeekableByteChannel file = Files.newByteChannel(offset, StandardOpenOption.WRITE)) {
        file.write(bytes);
      }
    } else {
      Files.write(offset, bytes.array());
    }
  }

  @Test
  void eventsAreCountedOnceWhateverTheTimeOfDay() throws Exception {
    try (Scene scene = Scene.open("clock", temp)) {
      Node node =
          scene.node(
              scene
                  .here()
                  .withEnvironment(
                      Map.of(
                          "LD_PRELOAD",
                          library.toString(),
                          "CLOCK_OFFSET_FILE",
                          offset.toString())));
      node.start();
      try (EventLoad load = scene.load()) {
        for (int i = 0; i < JUMPS_S.length; i++) {
          scene.awaitMore(load, 1000, 60);
          jumpTo(JUMPS_S[i]);
          assertThat(Duration.between(Instant.now(), created(scene, node, "jump-" + i)))
              .isCloseTo(Duration.ofSeconds(JUMPS_S[i]), NEAR);
          scene.awaitMore(load, 1000, 30);
          awaitCounted(scene);
        }
        scene.check(load);
      }
    }
  }

  /** When the service says that a new customer was made. */
  private static Instant created(Scene scene, Node node, String externalId) {
    String body = Json.encodeText(Map.of("externalId", externalId));
    try (RawHttp http = RawHttp.connect(node.port())) {
      RawHttp.Response answer =
          http.send(
                  "POST /external/customers HTTP/1.1\nHost: a\nContent-Type: application/json\n"
                      + "X-Api-Key: %s\nContent-Length: %d\n\n"
                          .formatted(scene.account().apiKey(), body.length())
                      + body)
              .read();
      assertThat(answer.status()).as(answer.body()).isEqualTo(201);
      return Instant.parse((String) Json.readMap(answer.body()).get("createdAt"));
    }
  }

  /** What has been stored by now is soon counted, whatever comes after it. */
  private static void awaitCounted(Scene scene) {
    String newest = scene.query("SELECT coalesce(max(batch), 0) FROM event_batch");
    Scene.until(
        "counted",
        30,
        () -> scene.query("SELECT count(*) FROM event_batch WHERE batch <= " + newest).equals("0"));
  }
}

package io.steelyard.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.support.LossyProxy;
import io.steelyard.support.RawHttp;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Clients that hold connections and say next to nothing. They are cut off in time, the memory they
 * take is bounded, and others are answered meanwhile about as fast as before.
 */
class SlowClientFaults {
  private static final int DRIBBLERS = Integer.getInteger("faults.dribblers", 3000);
  private static final int IDLE = Integer.getInteger("faults.idle", 10_000);
  private static final int HALF_OPEN = Integer.getInteger("faults.halfOpen", 500);
  private static final int PROBES = 1000;
  private static final int DRIBBLE_MS = 1000;
  private static final long P99_MS_MAX = 250;
  private static final long GROWN_KIB_MAX = 160 * 1024;
  private static final String CONNECTIONS = "steelyard_http_connections";
  private static final String REQUEST = "POST /external/event HTTP/1.1\nHost: a\n";

  @TempDir Path temp;
  private Scene scene;
  private Node node;
  private EventLoad load;
  private double p99Before;
  private long kibBefore;

  @BeforeEach
  void start() throws Exception {
    scene = Scene.open("slow-clients", temp);
    node = scene.node();
    node.start();
    load = scene.load();
    scene.awaitMore(load, 5000, 120);
    p99();
    p99Before = p99();
    kibBefore = node.residentKib();
  }

  @AfterEach
  void stop() {
    load.close();
    scene.close();
  }

  /** Of reads on a connection of its own, one after the other, in milliseconds. */
  private double p99() {
    long[] nanos = new long[PROBES];
    try (RawHttp http = RawHttp.connect(node.port())) {
      for (int i = 0; i < PROBES; i++) {
        long startedAt = System.nanoTime();
        http.send(
            "GET /external/customers?pageSize=1 HTTP/1.1\nHost: a\nX-Api-Key: "
                + scene.account().apiKey()
                + "\n\n");
        assertThat(http.read().status()).isEqualTo(200);
        nanos[i] = System.nanoTime() - startedAt;
      }
    }
    Arrays.sort(nanos);
    return nanos[PROBES * 99 / 100] / 1e6;
  }

  private void isServedMeanwhile(String what) throws Exception {
    double p99 = p99();
    long grownKib = node.residentKib() - kibBefore;
    scene.say(
        "%s: p99 %.1f ms (before %.1f ms), resident memory %d MiB (before %d MiB)",
        what, p99, p99Before, node.residentKib() >> 10, kibBefore >> 10);
    assertThat(p99).isLessThan(Math.max(P99_MS_MAX, 2 * p99Before));
    assertThat(grownKib).isLessThan(GROWN_KIB_MAX);
    scene.awaitMore(load, 100, 10);
  }

  /** Goes on saying it until all are cut off; returns after how many seconds. */
  private static long saysUntilCutOff(Crowd crowd, String what, long withinS) throws Exception {
    long startedAt = System.nanoTime();
    while (crowd.say(what) > 0) {
      long s = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - startedAt);
      assertThat(s).as("seconds, %d are left", crowd.say("")).isLessThan(withinS);
      Thread.sleep(DRIBBLE_MS);
    }
    return TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - startedAt);
  }

  @Test
  void headersByteByByte() throws Exception {
    try (Crowd crowd = new Crowd(node.port(), DRIBBLERS, REQUEST + "X-A: ")) {
      assertThat(crowd.say("a")).isEqualTo(DRIBBLERS);
      isServedMeanwhile(DRIBBLERS + " dribble headers");
      scene.say("cut off after %d s", saysUntilCutOff(crowd, "a", 15));
    }
    scene.check(load);
  }

  @Test
  void bodiesByteByByte() throws Exception {
    String head =
        REQUEST
            + "X-Api-Key: %s\nContent-Type: application/json\nContent-Length: 100000\n\n["
                .formatted(scene.account().apiKey());
    try (Crowd crowd = new Crowd(node.port(), DRIBBLERS, head)) {
      crowd.say(" ");
      isServedMeanwhile(DRIBBLERS + " dribble bodies");
      scene.say("cut off after %d s", saysUntilCutOff(crowd, " ", 40));
    }
    scene.check(load);
  }

  @Test
  void tenThousandThatSayNothing() throws Exception {
    try (Crowd crowd = new Crowd(node.port(), IDLE, "")) {
      assertThat(crowd.say("")).isEqualTo(IDLE);
      isServedMeanwhile(IDLE + " say nothing");
      scene.say("cut off after %d s", saysUntilCutOff(crowd, "", 80));
    }
    scene.check(load);
  }

  /** They are gone, and nothing says so: no end and no reset comes through. */
  @Test
  void halfOpen() throws Exception {
    try (LossyProxy proxy = new LossyProxy(node.port())) {
      double connections = node.metric(CONNECTIONS, "port=\"http\"");
      String head =
          REQUEST
              + "X-Api-Key: %s\nContent-Type: application/json\nContent-Length: 9\n\n"
                  .formatted(scene.account().apiKey());
      Crowd crowd = new Crowd(proxy.port(), HALF_OPEN, head);
      Scene.until(
          "all are connected",
          20,
          () -> node.metric(CONNECTIONS, "port=\"http\"") >= connections + HALF_OPEN);
      proxy.hold();
      crowd.close();
      isServedMeanwhile(HALF_OPEN + " are half open");
      long goneAt = System.nanoTime();
      Scene.until(
          "they are closed", 90, () -> node.metric(CONNECTIONS, "port=\"http\"") < connections + 5);
      scene.say("closed after %d s", TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - goneAt));
    }
    scene.check(load);
  }
}

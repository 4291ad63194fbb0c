package io.steelyard.fuzz;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.json.Json;
import io.steelyard.support.PostgresSupport;
import io.steelyard.support.RawHttp;
import io.steelyard.support.ServiceProcess;
import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;

/** A service of its own with a world in it, and what must hold after it was asked a lot. */
final class FuzzScene implements AutoCloseable {
  static final long SEED = Long.getLong("fuzz.seed", System.nanoTime() & 0xffffff);
  private static final long FIRST = Long.getLong("fuzz.first", 0);
  private static final int LANES = 4;

  /** A machine that has other things to do is no fault of the service: only a hang is. */
  private static final Map<String, String> PATIENT =
      Map.of(
          "gateway.backoffMs", "100",
          "database.poolWaitMs", "20000",
          "database.connectTimeoutMs", "20000",
          "database.statementTimeoutMs", "20000",
          "database.lockTimeoutMs", "20000",
          "database.idleInTransactionTimeoutMs", "30000",
          "timeouts.requestMs", "30000");

  private final ServiceProcess service;
  private final World world;
  private final List<FuzzOperation> operations = FuzzOperation.all();

  FuzzScene(Path dir) {
    System.out.println("fuzz: seed " + SEED);
    service =
        ServiceProcess.start(
            dir,
            PostgresSupport.migratedDatabase(),
            PATIENT,
            Map.of(
                "STEELYARD_SECURITY_ENCRYPTION_KEY",
                Base64.getEncoder().encodeToString(new byte[32])));
    try {
      world = World.in(service, catalog());
    } catch (RuntimeException | Error e) {
      service.close();
      throw e;
    }
  }

  private Object catalog() {
    return operations.stream()
        .filter(each -> each.method().equals("PUT") && each.path().endsWith("/catalog"))
        .findFirst()
        .orElseThrow()
        .examples()
        .getFirst();
  }

  /** Sends so many, the first part of them before it is measured what the service holds. */
  FuzzRun run(long count, long heapMibMore) throws Exception {
    FuzzRun run =
        new FuzzRun(
            new Requests(SEED, world, operations),
            new FuzzRun.Target(
                service.port(), URI.create(service.management()).getPort(), FuzzRun.ANSWER_MAX_MS));
    long warm = count / 4;
    run.send(FIRST, warm, LANES);
    Growth before = Growth.of(service);
    run.send(FIRST + warm, count - warm, LANES);
    Growth after = Growth.of(service);
    say(run, before, after);

    assertThat(run.faults()).as("seed %d", SEED).isEmpty();
    assertThat(after.since(before, heapMibMore)).as("seed %d", SEED).isEmpty();
    assertThat(service.output() + service.errors()).doesNotContain("\"ERROR\"", " ERROR ");
    checkBooks();
    return run;
  }

  private static void say(FuzzRun run, Growth before, Growth after) {
    run.statuses()
        .forEach((operation, each) -> System.out.println("fuzz: " + operation + " " + each));
    System.out.printf(
        "fuzz: seed %d: %d done, %d refused; slowest %s; heap %d MiB, then %d; open files %d, then %d%n",
        SEED,
        run.count(2),
        run.count(4),
        run.slowest(),
        before.heapMib(),
        after.heapMib(),
        before.openFiles(),
        after.openFiles());
  }

  /** Whatever was taken of it was taken whole. */
  private void checkBooks() {
    for (String merchant : world.homes().values()) {
      String report =
          service
              .operator("GET", "/operator/merchants/" + merchant + "/integrity", null)
              .join()
              .body();
      assertThat(Json.readMap(report)).as(report).containsEntry("clean", true);
    }
  }

  /** Every operation was refused and, but for those whose state allows it seldom, done. */
  void checkReach(FuzzRun run) {
    assertThat(run.statuses().keySet())
        .containsAll(operations.stream().map(FuzzOperation::toString).toList());
    operations.stream()
        .filter(each -> !each.operator() && !each.method().equals("DELETE"))
        .forEach(
            each ->
                assertThat(run.statuses().get(each.toString()).keySet())
                    .as("%s, seed %d", each, SEED)
                    .anyMatch(status -> status / 100 == 2)
                    .anyMatch(status -> status / 100 == 4));
  }

  /** The measure itself: what is held is seen. */
  void checkThatHeldConnectionsAreSeen() throws Exception {
    List<RawHttp> held = new ArrayList<>();
    Growth before = Growth.of(service);
    try {
      for (int i = 0; i < 40; i++) {
        held.add(RawHttp.connect(service.port()).send("GET /docs HTTP/1.1\nHost: a\n\n"));
        held.getLast().read();
      }

      assertThat(Growth.of(service).since(before, Long.MAX_VALUE / 2))
          .singleElement()
          .asString()
          .startsWith("open files: ");
    } finally {
      held.forEach(RawHttp::close);
    }
  }

  @Override
  public void close() {
    service.close();
  }
}

package io.steelyard.db;

import static io.steelyard.support.Merchant.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.steelyard.support.Merchant;
import io.steelyard.support.PostgresSupport;
import io.steelyard.support.TestApp;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * What an operator restores is whole: the books are right, and every event that is in them is known
 * by its key, so that merchants may send again what they are not sure of.
 */
class BackupIT {
  private static final Map<String, String> PATIENT = Map.of("database.connectTimeoutMs", "30000");
  private static final int BATCH = 100;

  @TempDir Path temp;

  /** Some that were acknowledged before the backup, and some while or after it was taken. */
  private record Sent(
      Merchant merchant, List<Map<String, Object>> before, List<Map<String, Object>> since) {}

  @Test
  void aDumpThatWasTakenUnderLoad() throws Exception {
    Path installed = installed();
    try (CrashablePostgres postgres = postgres(installed, "cluster", Map.of())) {
      Endpoint original = database(postgres, "steelyard");
      Endpoint restored = database(postgres, "restored");
      Path dump = temp.resolve("steelyard.dump");
      Sent sent =
          sendAround(
              original,
              () -> run(installed, "pg_dump", "-Fc", "-f", dump.toString(), "-d", uri(original)));

      run(installed, "pg_restore", "--exit-on-error", "-d", uri(restored), dump.toString());

      checkRestored(restored, sent);
    }
  }

  @Test
  void aPointInTime() throws Exception {
    Path archive = Files.createDirectory(temp.resolve("archive"));
    Path copy = temp.resolve("copy");
    Sent sent;
    String target;
    List<Map<String, Object>> lost = new ArrayList<>();
    try (CrashablePostgres postgres = postgres(programs(), "cluster", archivedTo(archive))) {
      sent = sendAround(postgres.endpoint(), () -> postgres.backUp(copy));
      target = one(postgres.endpoint(), "SELECT clock_timestamp()::text");
      try (TestApp app = TestApp.start(postgres.endpoint(), PATIENT)) {
        Merchant merchant = on(app, sent.merchant());
        lost.addAll(send(merchant, customer(merchant), "late"));
      }
      String last = one(postgres.endpoint(), "SELECT pg_walfile_name(pg_switch_wal())");
      assertThat(eventually(() -> Files.exists(archive.resolve(last)), there -> there)).isTrue();
      postgres.kill();
    }
    Files.createFile(copy.resolve("recovery.signal"));

    try (CrashablePostgres restored = postgres(programs(), "copy", restoredFrom(archive, target))) {
      assertThat(
              eventually(
                  () -> one(restored.endpoint(), "SELECT pg_is_in_recovery()"),
                  recovering -> recovering.equals("f")))
          .isEqualTo("f");
      assertThat(one(restored.endpoint(), "SELECT count(*) FROM event_key"))
          .isEqualTo("" + (sent.before().size() + sent.since().size()));
      sent.since().addAll(lost);
      checkRestored(restored.endpoint(), sent);
    }
  }

  private static Map<String, String> archivedTo(Path archive) {
    return Map.of(
        "archive_mode",
        "on",
        "archive_command",
        "'cp %p " + archive + "/part && mv " + archive + "/part " + archive + "/%f'");
  }

  private static Map<String, String> restoredFrom(Path archive, String target) {
    return Map.of(
        "restore_command", "'cp " + archive + "/%f %p'",
        "recovery_target_time", "'" + target + "'",
        "recovery_target_action", "promote");
  }

  private static Path programs() throws IOException {
    return Files.createDirectories(Path.of("target", "faults", "programs")).toAbsolutePath();
  }

  /** Where PostgreSQL is installed on this machine: the build brings no {@code pg_dump}. */
  private static Path installed() throws IOException {
    Path all = Path.of("/usr/lib/postgresql");
    assumeThat(all).as("PostgreSQL as Debian installs it, for its pg_dump").isDirectory();
    try (Stream<Path> versions = Files.list(all)) {
      Path newest = versions.max(Comparator.comparing(BackupIT::version)).orElseThrow();
      Predicate<String> isThere = name -> Files.isExecutable(newest.resolve("bin").resolve(name));
      assumeThat(List.of("initdb", "pg_ctl", "pg_dump", "pg_restore")).allMatch(isThere);
      return newest;
    }
  }

  /** Of a directory that is named by it, e.g. 17 or 9.6. */
  private static BigDecimal version(Path home) {
    String name = home.getFileName().toString();
    return name.matches("[0-9]+(\\.[0-9]+)?") ? new BigDecimal(name) : BigDecimal.ZERO;
  }

  private CrashablePostgres postgres(Path programs, String cluster, Map<String, String> settings) {
    return CrashablePostgres.start(
        new CrashablePostgres.Place(programs, temp, temp.resolve(cluster), null), settings);
  }

  private static Endpoint database(CrashablePostgres postgres, String name) {
    Endpoint admin = postgres.endpoint();
    PostgresSupport.execute(admin, "CREATE DATABASE " + name);
    return new Endpoint(admin.host(), admin.port(), name, admin.user(), admin.password());
  }

  private static String uri(Endpoint database) {
    return "postgresql://%s@%s:%d/%s"
        .formatted(database.user(), database.host(), database.port(), database.database());
  }

  private void run(Path installed, String program, String... arguments) throws Exception {
    List<String> command = new ArrayList<>();
    command.add(installed.resolve("bin").resolve(program).toString());
    command.addAll(List.of(arguments));
    Path output = temp.resolve(program + ".log");
    Process process =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(output.toFile())
            .start();
    assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
    assertThat(process.exitValue()).as(Files.readString(output)).isZero();
  }

  /** Sends some events, and others from before to after the backup is taken. */
  private static Sent sendAround(Endpoint database, Backup backup) throws Exception {
    try (TestApp app = TestApp.start(database, PATIENT);
        ExecutorService sending = Executors.newVirtualThreadPerTaskExecutor()) {
      Merchant merchant = app.merchant("test", Merchant.CATALOG);
      String customer = merchant.customerId("acme");
      List<Map<String, Object>> before = send(merchant, customer, "before");
      AtomicBoolean taken = new AtomicBoolean();
      AtomicInteger accepted = new AtomicInteger();
      CompletableFuture<List<Map<String, Object>>> since =
          CompletableFuture.supplyAsync(
              () -> send(merchant, customer, "since", taken, accepted), sending);
      int begunAt = 0;
      int endedAt = 0;
      try {
        begunAt = eventually(accepted::get, count -> count > 0);
        backup.take();
        endedAt = accepted.get();
      } finally {
        taken.set(true);
      }
      assertThat(begunAt).isPositive();
      assertThat(endedAt).as("accepted while the backup was taken").isGreaterThan(begunAt);
      return new Sent(merchant, before, since.get(60, TimeUnit.SECONDS));
    }
  }

  private interface Backup {
    void take() throws Exception;
  }

  private static List<Map<String, Object>> send(Merchant merchant, String customer, String keys) {
    return send(merchant, customer, keys, new AtomicBoolean(true), new AtomicInteger());
  }

  /** Sends one batch after the other until {@code enough}, and one at least; all are accepted. */
  private static List<Map<String, Object>> send(
      Merchant merchant,
      String customer,
      String keys,
      AtomicBoolean enough,
      AtomicInteger accepted) {
    List<Map<String, Object>> sent = new ArrayList<>();
    do {
      List<Map<String, Object>> batch = new ArrayList<>();
      for (int i = 0; i < BATCH; i++) {
        batch.add(merchant.event(customer, "api.request", 1, keys + "-" + (sent.size() + i)));
      }
      assertThat(merchant.post("/external/event", batch).object())
          .isEqualTo(Map.of("accepted", BATCH, "duplicates", 0));
      sent.addAll(batch);
      accepted.addAndGet(BATCH);
    } while (!enough.get());
    return sent;
  }

  private static Merchant on(TestApp app, Merchant merchant) {
    return new Merchant(app, merchant.id(), merchant.key());
  }

  private static String customer(Merchant merchant) {
    return merchant.get("/external/customers").at("results.0.id");
  }

  /** What is not in the backup is sent again, with all else: each event counts once. */
  private static void checkRestored(Endpoint database, Sent sent) throws Exception {
    try (TestApp app = TestApp.start(database, PATIENT)) {
      Merchant merchant = on(app, sent.merchant());
      assertThat(merchant.post("/external/event", sent.before()).object())
          .isEqualTo(Map.of("accepted", 0, "duplicates", sent.before().size()));
      for (int i = 0; i < sent.since().size(); i += BATCH) {
        assertThat(merchant.post("/external/event", sent.since().subList(i, i + BATCH)).status())
            .isEqualTo(202);
      }

      int all = sent.before().size() + sent.since().size();
      assertThat(
              eventually(
                  () -> one(database, "SELECT trim_scale(sum(sum)) FROM usage_counter"),
                  ("" + all)::equals))
          .isEqualTo("" + all);
      assertThat(merchant.operator("GET", "/integrity").send(200).object())
          .containsEntry("clean", true);
    }
  }

  private static String one(Endpoint database, String sql) {
    return PostgresSupport.column(database, sql).getFirst();
  }
}

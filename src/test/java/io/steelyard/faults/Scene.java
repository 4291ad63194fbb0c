package io.steelyard.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.db.CrashablePostgres;
import io.steelyard.db.Endpoint;
import io.steelyard.faults.Ledger.Outcome;
import io.steelyard.json.Json;
import io.steelyard.support.ServiceProcess;
import io.steelyard.support.Tables;
import io.steelyard.support.TestConfig;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;

/**
 * A durable PostgreSQL, nodes of the service on it as processes, and a ledger of what was sent to
 * them. What a failure needs to be looked into stays in {@code target/faults/NAME}: the ledger, the
 * nodes' output and PostgreSQL's log.
 */
final class Scene implements AutoCloseable {
  /** {@code -Dfaults.seed} plays a run again. */
  static final long SEED = Long.getLong("faults.seed", System.nanoTime() & 0xffffff);

  static final int CONNECTIONS = Integer.getInteger("faults.connections", 16);
  private static final long COUNTED_WITHIN_S = 120;

  private final String name;
  private final Path dir;
  private final CrashablePostgres postgres;
  private final Account account;
  private final Ledger ledger;
  private final List<Node> nodes = new ArrayList<>();

  /** A node, which keeps its port when it is started again. */
  final class Node {
    private final Endpoint database;
    private final Map<String, String> settings;
    private final Map<String, String> environment;
    private ServiceProcess process;

    private Node(Endpoint database, Map<String, String> settings, Map<String, String> environment) {
      this.database = database;
      this.settings = settings;
      this.environment = environment;
    }

    /** Starts it; returns the milliseconds until it was ready. */
    long start() {
      long startedAt = System.nanoTime();
      process = ServiceProcess.start(dir, database, settings, environment);
      until(
          "ready",
          10,
          () -> process.operator("GET", "/health/ready", null).get().statusCode() == 200);
      return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startedAt);
    }

    ServiceProcess process() {
      return process;
    }

    /** Kibibytes of memory that are resident now. */
    long residentKib() {
      try {
        String status = Files.readString(Path.of("/proc", Long.toString(process.pid()), "status"));
        return Long.parseLong(status.replaceAll("(?s).*VmRSS:\\s*(\\d+) kB.*", "$1"));
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }

    /** The sum of a metric's values over its labels. */
    double metric(String metric) {
      return process
          .operator("GET", "/metrics", null)
          .join()
          .body()
          .lines()
          .filter(line -> line.startsWith(metric + "{") || line.startsWith(metric + " "))
          .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
          .sum();
    }

    int port() {
      return Integer.parseInt(settings.get("http.port"));
    }
  }

  private Scene(String name, Path dir, CrashablePostgres postgres, Account account) {
    this.name = name;
    this.dir = dir;
    this.postgres = postgres;
    this.account = account;
    this.ledger = new Ledger(dir.resolve("ledger.txt"));
    say("seed %d", SEED);
  }

  /**
   * With an external PostgreSQL of its own, and no node yet.
   *
   * @param temp for PostgreSQL's data
   */
  static Scene open(String name, Path temp) {
    return open(name, temp.resolve("cluster"), null, Map.of());
  }

  /**
   * As {@link #open(String, Path)}.
   *
   * @param wal for PostgreSQL's log of changes; null for within its cluster
   * @param settings of PostgreSQL
   */
  static Scene open(String name, Path cluster, Path wal, Map<String, String> settings) {
    Path dir = directory(name);
    CrashablePostgres postgres =
        CrashablePostgres.start(
            new CrashablePostgres.Place(directory("programs"), dir, cluster, wal), settings);
    try {
      return new Scene(name, dir, postgres, Account.make(postgres.endpoint()));
    } catch (RuntimeException e) {
      postgres.close();
      throw e;
    }
  }

  private static Path directory(String name) {
    try {
      return Files.createDirectories(Path.of("target", "faults", name)).toAbsolutePath();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  Node node() {
    return node(postgres.endpoint(), Map.of(), Map.of());
  }

  /**
   * Not started yet.
   *
   * @param database the way to it, e.g. through a proxy
   */
  Node node(Endpoint database, Map<String, String> settings, Map<String, String> environment) {
    Map<String, String> all = new HashMap<>(Map.of("http.port", TestConfig.freePort()));
    all.putAll(settings);
    Node node = new Node(database, all, environment);
    nodes.add(node);
    return node;
  }

  EventLoad load() {
    List<Integer> ports = nodes.stream().map(Node::port).toList();
    return new EventLoad(account, ports, ledger, SEED).start(CONNECTIONS);
  }

  CrashablePostgres postgres() {
    return postgres;
  }

  Account account() {
    return account;
  }

  Ledger ledger() {
    return ledger;
  }

  void say(String format, Object... values) {
    System.out.println("faults: " + name + ": " + format.formatted(values));
  }

  /** Waits until so many more events were acknowledged than have been by now. */
  void awaitMore(EventLoad load, long events, long withinS) {
    long goal = load.acknowledged() + events;
    until(events + " more acknowledged", withinS, () -> load.acknowledged() >= goal);
  }

  /** Fails when it is not so in time; a question that throws is asked again. */
  static void until(String what, long withinS, Callable<Boolean> question) {
    long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(withinS);
    Exception last = null;
    while (System.nanoTime() < deadline) {
      try {
        if (question.call()) {
          return;
        }
        last = null;
        Thread.sleep(10);
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new IllegalStateException(e);
      } catch (Exception e) {
        last = e;
      }
    }
    throw new AssertionError("not within " + withinS + " s: " + what, last);
  }

  /**
   * Lets the load come to its end, and holds all that is stored and counted against the ledger.
   * Every node must be up again.
   */
  void check(EventLoad load) {
    load.finish();
    say(
        "%d events acknowledged, %d refused; calls by status %s; slowest call %d ms",
        ledger.count(Outcome.ACKED),
        ledger.count(Outcome.REFUSED),
        load.statuses(),
        load.slowestMs());
    assertThat(load.faults()).as("seed %d", SEED).isEmpty();
    assertThat(ledger.count(Outcome.UNKNOWN)).as("unknown, seed %d", SEED).isZero();
    assertThat(ledger.count(Outcome.ACKED)).isPositive();
    checkBooks();
  }

  void checkBooks() {
    until(
        "everything counted",
        COUNTED_WITHIN_S,
        () -> query("SELECT count(*) FROM event_batch").equals("0"));
    assertThat(
            LedgerCheck.faults(
                postgres.endpoint(),
                account.merchantUuid(),
                account.customerUuids(),
                ledger.entries()))
        .as("seed %d, %s", SEED, dir)
        .isEmpty();
    HttpResponse<String> report =
        nodes
            .getFirst()
            .process()
            .operator("GET", "/operator/merchants/" + account.merchantId() + "/integrity", null)
            .join();
    assertThat(Json.readMap(report.body())).as(report.body()).containsEntry("clean", true);
  }

  String query(String sql) {
    return Tables.query(postgres.endpoint(), sql).getFirst();
  }

  @Override
  public void close() {
    nodes.forEach(
        node -> {
          if (node.process != null) {
            node.process.close();
          }
        });
    postgres.close();
    ledger.close();
  }
}

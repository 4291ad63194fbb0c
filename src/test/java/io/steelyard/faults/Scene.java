package io.steelyard.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.db.CrashablePostgres;
import io.steelyard.db.Endpoint;
import io.steelyard.faults.Ledger.Outcome;
import io.steelyard.faults.Node.Place;
import io.steelyard.json.Json;
import io.steelyard.support.ClusterSettings;
import io.steelyard.support.LossyProxy;
import io.steelyard.support.Merchant;
import io.steelyard.support.PostgresSupport;
import io.steelyard.support.Tables;
import io.steelyard.support.TestConfig;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.lang.management.OperatingSystemMXBean;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * A durable PostgreSQL, nodes of the service on it as processes, and a ledger of what was sent to
 * them. What a failure needs to be looked into stays in {@code target/faults/NAME}: the ledger, the
 * nodes' output and PostgreSQL's log.
 */
final class Scene implements AutoCloseable {
  /** {@code -Dfaults.seed} plays a run again. */
  static final long SEED = Long.getLong("faults.seed", System.nanoTime() & 0xffffff);

  private static final long SHARED_BY = sharedBy();

  static final int CONNECTIONS = Integer.getInteger("faults.connections", 16);
  private static final long COUNTED_WITHIN_S = 120;

  private final String name;
  private final Path dir;
  private final CrashablePostgres postgres;
  private final Account account;
  private final Ledger ledger;
  private final List<Node> nodes = new ArrayList<>();
  private int loads;

  private Scene(
      String name, Path dir, CrashablePostgres postgres, Function<Endpoint, Account> account) {
    this.name = name;
    this.dir = dir;
    this.postgres = postgres;
    this.account = account.apply(postgres.endpoint());
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
   * @param account makes the merchant, and the schema before it
   */
  static Scene open(String name, Path temp, Function<Endpoint, Account> account) {
    return open(name, temp.resolve("cluster"), null, Map.of(), account);
  }

  /**
   * As {@link #open(String, Path)}.
   *
   * @param wal for PostgreSQL's log of changes; null for within its cluster
   * @param settings of PostgreSQL
   */
  static Scene open(String name, Path cluster, Path wal, Map<String, String> settings) {
    return open(name, cluster, wal, settings, Account::make);
  }

  private static Scene open(
      String name,
      Path cluster,
      Path wal,
      Map<String, String> settings,
      Function<Endpoint, Account> account) {
    Path dir = directory(name);
    CrashablePostgres postgres =
        CrashablePostgres.start(
            new CrashablePostgres.Place(directory("programs"), dir, cluster, wal), settings);
    try {
      return new Scene(name, dir, postgres, account);
    } catch (RuntimeException e) {
      postgres.close();
      throw e;
    }
  }

  static Path directory(String name) {
    try {
      return Files.createDirectories(Path.of("target", "faults", name)).toAbsolutePath();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  Node node() {
    return node(here());
  }

  /** Not started yet. */
  Node node(Place place) {
    Node node =
        new Node(
            dir, place.with(Map.of("http.port", TestConfig.freePort())).with(place.settings()));
    nodes.add(node);
    return node;
  }

  /** On the database itself. */
  Place here() {
    return new Place(postgres.endpoint());
  }

  /** On the database by way of a proxy on the loopback address. */
  Place through(LossyProxy proxy) {
    return through("127.0.0.1", proxy);
  }

  Place through(String host, LossyProxy proxy) {
    return new Place(endpoint(host, proxy.port(), postgres.endpoint().user()));
  }

  /** As a user of the database of its own, by which its sessions are known. */
  Place as(String user) {
    PostgresSupport.execute(postgres.endpoint(), "CREATE ROLE %s SUPERUSER LOGIN".formatted(user));
    return new Place(endpoint("127.0.0.1", postgres.endpoint().port(), user));
  }

  private Endpoint endpoint(String host, int port, String user) {
    Endpoint direct = postgres.endpoint();
    return new Endpoint(host, port, direct.database(), user, direct.password());
  }

  /** Nodes that are to be one cluster, none started yet. */
  List<Node> cluster(List<Place> places) {
    List<Map<String, String>> joining =
        ClusterSettings.of(
            places.stream()
                .map(place -> place.settings().getOrDefault("cluster.host", "127.0.0.1"))
                .toList());
    List<Node> cluster = new ArrayList<>();
    for (int i = 0; i < places.size(); i++) {
      cluster.add(node(places.get(i).with(joining.get(i))));
    }
    return cluster;
  }

  /** Starts them, the first before the others; returns when each knows of all. */
  static void start(List<Node> cluster) {
    cluster.getFirst().start();
    Merchant.atOnce(cluster.size() - 1, i -> cluster.get(i + 1).start());
    awaitMembers(cluster, 30);
  }

  /** Waits until each is ready and knows of so many nodes as these are. */
  static void awaitMembers(List<Node> cluster, long withinS) {
    String members = "\"members\":" + cluster.size();
    until(
        members,
        withinS,
        () ->
            cluster.stream()
                .map(Node::ready)
                .allMatch(ready -> ready.statusCode() == 200 && ready.body().contains(members)));
  }

  EventLoad load() {
    return load(nodes, node -> true);
  }

  /**
   * Over some of the nodes.
   *
   * @param open whether a sender should turn to the node now
   */
  EventLoad load(List<Node> some, Predicate<Node> open) {
    List<Door> doors =
        some.stream()
            .map(node -> new Door(node.host(), node.port(), () -> open.test(node)))
            .toList();
    long seed = SEED + (long) CONNECTIONS * loads++; // no two senders of one run say the same
    return new EventLoad(account, doors, ledger, seed).start(CONNECTIONS);
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

  /** A limit of a machine of its own, stretched by what else it did when the first test began. */
  static long stretched(long limit) {
    return limit * SHARED_BY;
  }

  /** How many runnable threads share a processor. */
  private static long sharedBy() {
    OperatingSystemMXBean machine = ManagementFactory.getOperatingSystemMXBean();
    double share = machine.getSystemLoadAverage() / machine.getAvailableProcessors();
    return Math.max(1, Math.round(share));
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
   * Lets the loads come to their end, and holds all that is stored and counted against the ledger.
   * Every node must be up again.
   */
  void check(EventLoad... loads) {
    for (EventLoad load : loads) {
      // Which batches are refused is drawn by lot: wait for one.
      until("a batch refused", 60, () -> load.statuses().containsKey(400));
      load.finish();
      say(
          "%d events acknowledged, %d refused; calls by status %s; slowest call %d ms",
          ledger.count(Outcome.ACKED),
          ledger.count(Outcome.REFUSED),
          load.statuses(),
          load.slowestMs());
      assertThat(load.faults()).as("seed %d", SEED).isEmpty();
    }
    assertThat(ledger.count(Outcome.UNKNOWN)).as("unknown, seed %d", SEED).isZero();
    assertThat(ledger.count(Outcome.ACKED)).isPositive();
    checkBooks();
  }

  void checkBooks() {
    until(
        "everything counted",
        COUNTED_WITHIN_S,
        () -> query("SELECT count(*) FROM event_batch").equals("0"));
    assertThat(faults()).as("seed %d, %s", SEED, dir).isEmpty();
    HttpResponse<String> report =
        nodes
            .getFirst()
            .process()
            .operator("GET", "/operator/merchants/" + account.merchantId() + "/integrity", null)
            .join();
    assertThat(Json.readMap(report.body())).as(report.body()).containsEntry("clean", true);
  }

  /** What of the ledger is not so in the database; everything must have been counted. */
  List<String> faults() {
    return LedgerCheck.faults(
        postgres.endpoint(), account.merchantUuid(), account.customerUuids(), ledger.entries());
  }

  String query(String sql) {
    return Tables.query(postgres.endpoint(), sql).getFirst();
  }

  @Override
  public void close() {
    nodes.forEach(Node::close);
    postgres.close();
    ledger.close();
  }
}

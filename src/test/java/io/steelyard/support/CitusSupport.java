package io.steelyard.support;

import io.steelyard.db.Distribution;
import io.steelyard.db.Endpoint;
import io.steelyard.db.Migrations;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The Citus cluster whose coordinator {@code -Dtest.citus.uri} or {@code STEELYARD_CITUS_URL}
 * names. Its user is a superuser on every node under the same password, and the database that is
 * named knows the nodes. Callers get databases of their own on all of them.
 */
public final class CitusSupport {
  public static final String MISSING =
      "no Citus is named (-Dtest.citus.uri=postgresql://user:password@host:port/db)";

  private static final String ADMIN_URL =
      System.getProperty("test.citus.uri", System.getenv("STEELYARD_CITUS_URL"));

  // With shards for two workers: what 32 would show is shown by 4.
  private static final String SHARDS = "ALTER DATABASE %s SET citus.shard_count = 4";
  private static final String DISCONNECT =
      "SELECT pg_terminate_backend(pid, 5000) FROM pg_stat_activity WHERE datname = '%s'";
  private static final Set<String> MADE = ConcurrentHashMap.newKeySet();

  private record Node(String host, int port, boolean coordinator) {}

  private CitusSupport() {}

  /** Whether every test's database is to be distributed. */
  public static boolean isWanted() {
    return "citus".equals(System.getProperty("test.distribution"));
  }

  public static boolean isNamed() {
    return ADMIN_URL != null && !ADMIN_URL.isBlank();
  }

  /** Whether a database is one of those made here. */
  static boolean made(Endpoint database) {
    return MADE.contains(database.database());
  }

  /** A fresh database, migrated and distributed. */
  static Endpoint distributedDatabase(String name) {
    Endpoint database = emptyDatabase(name);
    Migrations.migrate(database);
    Distribution.apply(database, true);
    return database;
  }

  /** A fresh database without any table; its nodes know each other. */
  public static Endpoint emptyDatabase(String name) {
    Endpoint admin = PostgresSupport.parsed(URI.create(ADMIN_URL));
    List<Node> nodes = nodes(admin);
    for (Node node : nodes) {
      PostgresSupport.execute(
          at(admin, node, admin.database()),
          "DROP DATABASE IF EXISTS " + name + " WITH (FORCE)",
          "CREATE DATABASE " + name,
          SHARDS.formatted(name));
      PostgresSupport.execute(at(admin, node, name), "CREATE EXTENSION citus");
    }
    Endpoint database =
        new Endpoint(admin.host(), admin.port(), name, admin.user(), admin.password());
    for (Node node : nodes) {
      PostgresSupport.execute(
          database,
          (node.coordinator()
                  ? "SELECT citus_set_coordinator_host('%s', %d)"
                  : "SELECT citus_add_node('%s', %d)")
              .formatted(node.host(), node.port()));
    }
    MADE.add(name);
    return database;
  }

  /**
   * A copy of one of those made here to which nobody is connected; on each node it has the name
   * that its nodes look for.
   */
  static Endpoint copyOf(Endpoint database, String name) {
    Endpoint admin = PostgresSupport.parsed(URI.create(ADMIN_URL));
    for (Node node : nodes(admin)) {
      PostgresSupport.execute(
          at(admin, node, admin.database()),
          "DROP DATABASE IF EXISTS " + name + " WITH (FORCE)",
          // the process of Citus, and what it holds open to the other nodes
          DISCONNECT.formatted(database.database()),
          "CREATE DATABASE " + name + " TEMPLATE " + database.database(),
          SHARDS.formatted(name));
    }
    MADE.add(name);
    return new Endpoint(admin.host(), admin.port(), name, admin.user(), admin.password());
  }

  /** Each database has a process of Citus on each node, of which there are few. */
  public static void drop(Endpoint database) {
    Endpoint admin = PostgresSupport.parsed(URI.create(ADMIN_URL));
    for (Node node : nodes(admin)) {
      PostgresSupport.execute(
          at(admin, node, admin.database()),
          "DROP DATABASE IF EXISTS " + database.database() + " WITH (FORCE)");
    }
  }

  /** The coordinator first. */
  private static List<Node> nodes(Endpoint admin) {
    List<Node> nodes = new ArrayList<>();
    for (String row :
        PostgresSupport.column(
            admin,
            "SELECT concat_ws(' ', nodename, nodeport, groupid) FROM pg_dist_node ORDER BY groupid")) {
      String[] parts = row.split(" ");
      nodes.add(new Node(parts[0], Integer.parseInt(parts[1]), parts[2].equals("0")));
    }
    return nodes;
  }

  private static Endpoint at(Endpoint admin, Node node, String database) {
    return new Endpoint(node.host(), node.port(), database, admin.user(), admin.password());
  }
}

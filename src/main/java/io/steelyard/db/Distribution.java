package io.steelyard.db;

import io.steelyard.config.StartFailure;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Where the tables of a database are: all on one PostgreSQL, or those that grow with the events on
 * the nodes of a Citus cluster. Blocking; for start-up only.
 */
public final class Distribution {
  private static final Logger LOG = LoggerFactory.getLogger(Distribution.class);

  /** On the nodes, by this column. */
  static final Map<String, String> DISTRIBUTED =
      Map.of(
          "event_key", "key",
          "event_chunk", "merchant_id",
          "late_event", "merchant_id",
          "usage_unique", "merchant_id");

  /**
   * A copy on every node. A statement that changes a table of the coordinator may join them; from a
   * subquery alone Citus 13.0 would send the change to every node, where that table is not.
   */
  static final Set<String> REFERENCE =
      Set.of(
          "billable", "billable_rules", "custom_pricing_unit", "plan", "plan_allocation", "price");

  /**
   * On the coordinator alone: the queues, whose rows are claimed with {@code SKIP LOCKED} for all
   * merchants at once, what is joined with them, and what grows with customers and their periods.
   */
  static final Set<String> LOCAL =
      Set.of(
          "allocation_block",
          "api_key",
          "billable_access",
          "credit_draw",
          "credit_transaction",
          "credit_usage",
          "customer",
          "customer_private_plan",
          "event_batch",
          "event_month_dropped",
          "flyway_schema_history",
          "gateway_connection",
          "idempotency_key",
          "invoice",
          "invoice_line_item",
          "invoice_number",
          "merchant",
          "outbox",
          "rebill",
          "sandbox_behavior",
          "sandbox_checkout_session",
          "sandbox_invoice",
          "sandbox_request",
          "subscription",
          "subscription_period",
          "transition",
          "usage_counter");

  /**
   * One connection to each node for each of ours. Citus would open up to 16 for a statement over
   * many shards, such as every flush is, and commit in two phases on each.
   */
  static final Map<String, String> SESSION = Map.of("citus.max_adaptive_executor_pool_size", "1");

  private static final String SCRIPT = "/db/citus/distribute.sql";

  private static final String ONE_AT_A_TIME =
      "SELECT pg_advisory_xact_lock(1684632436, 0)"; // "dist"

  private static final String HAS_CITUS =
      "SELECT extversion FROM pg_extension WHERE extname = 'citus'";

  private static final String NODES =
      """
      SELECT count(*) FROM pg_dist_node
       WHERE noderole = 'primary' AND isactive AND shouldhaveshards
      """;

  /** Every table of ours, partitions under their root's name, with how Citus keeps it. */
  private static final String PLACES =
      """
      SELECT c.relname,
             CASE WHEN p.partmethod = 'h' THEN column_to_column_name(p.logicalrelid, p.partkey)
                  WHEN p.partmethod = 'n' AND p.repmodel = 't' THEN 'every node'
                  WHEN p.partmethod IS NOT NULL THEN 'known to Citus'
                  ELSE 'coordinator' END AS place
        FROM pg_class c
        LEFT JOIN pg_dist_partition p ON p.logicalrelid = c.oid
       WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p')
         AND NOT c.relispartition
         AND NOT EXISTS (SELECT FROM pg_depend d
                          WHERE d.classid = 'pg_class'::regclass AND d.objid = c.oid
                            AND d.deptype = 'e')
      """;

  private Distribution() {}

  /**
   * Brings the tables to where they belong, or finds them there.
   *
   * @param citus whether they belong to the nodes of a Citus cluster
   * @throws StartFailure when the database is not what the settings say
   */
  public static void apply(Endpoint endpoint, boolean citus) {
    try (Connection connection = endpoint.connect()) {
      apply(connection, citus, () -> {});
    } catch (SQLException e) {
      throw new StartFailure("the database cannot be reached: " + e.getMessage(), e);
    }
  }

  /**
   * As {@link #apply(Endpoint, boolean)}, in a session that commits by itself.
   *
   * @param beforeMoving called where tables are to be moved, by this process or another
   */
  static void apply(Connection connection, boolean citus, Runnable beforeMoving) {
    try {
      String version = text(connection, HAS_CITUS);
      if (citus) {
        distribute(connection, version, beforeMoving);
      } else if (version != null) {
        refuseDistributed(connection);
      }
    } catch (SQLException e) {
      throw new StartFailure(
          "the tables could not be distributed (database.distribution): " + e.getMessage(), e);
    }
  }

  private static void refuseDistributed(Connection connection) throws SQLException {
    boolean distributed =
        places(connection).values().stream().anyMatch(place -> !place.equals("coordinator"));
    if (distributed) {
      throw new StartFailure(
          "the tables of this database are distributed by Citus: set database.distribution to citus");
    }
  }

  private static void distribute(Connection connection, String version, Runnable beforeMoving)
      throws SQLException {
    if (version == null) {
      throw new StartFailure(
          "database.distribution is citus, but the database has no extension citus"
              + " (CREATE EXTENSION citus on every node, then citus_add_node)");
    }
    if (Long.parseLong(text(connection, NODES)) == 0) {
      throw new StartFailure(
          "database.distribution is citus, but the cluster has no node that takes shards"
              + " (citus_add_node on the coordinator)");
    }
    if (isHere(connection)) {
      beforeMoving.run();
    }
    connection.setAutoCommit(false);
    text(connection, ONE_AT_A_TIME);
    if (isHere(connection)) {
      LOG.info("Distributing the tables by Citus {}", version);
      execute(connection, script());
    }
    connection.commit();
    check(places(connection));
    LOG.info("The tables are distributed by Citus {}", version);
  }

  private static boolean isHere(Connection connection) throws SQLException {
    return places(connection).get("event_key").equals("coordinator");
  }

  /** What is distributed in another way than this build reckons with may break any statement. */
  private static void check(Map<String, String> places) {
    List<String> faults = new ArrayList<>();
    places.forEach(
        (table, place) -> {
          String due = place(table);
          if (due != null && !due.equals(place)) {
            faults.add("%s is distributed by %s, not by %s".formatted(table, place, due));
          }
        });
    if (!faults.isEmpty()) {
      throw new StartFailure(
          "the tables are not where this version needs them: " + String.join("; ", faults));
    }
  }

  /** Null for a table that is none of ours. */
  private static String place(String table) {
    if (REFERENCE.contains(table)) {
      return "every node";
    }
    return LOCAL.contains(table) ? "coordinator" : DISTRIBUTED.get(table);
  }

  private static Map<String, String> places(Connection connection) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery(PLACES)) {
      Map<String, String> places = new TreeMap<>();
      while (rows.next()) {
        places.put(rows.getString(1), rows.getString(2));
      }
      return places;
    }
  }

  private static String text(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement();
        ResultSet rows = statement.executeQuery(sql)) {
      return rows.next() ? rows.getString(1) : null;
    }
  }

  private static void execute(Connection connection, String sql) throws SQLException {
    try (Statement statement = connection.createStatement()) {
      statement.execute(sql);
    }
  }

  private static String script() {
    try (InputStream script = Distribution.class.getResourceAsStream(SCRIPT)) {
      return new String(script.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}

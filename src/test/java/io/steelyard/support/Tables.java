package io.steelyard.support;

import io.steelyard.db.Endpoint;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** What is in the tables of a database, seen past the service. */
public final class Tables {
  /** What the counter {@code c} has come to under the calculation of the rules {@code r}. */
  public static final String QUANTITY =
      """
      CASE r.rules->>'calculation' WHEN 'count' THEN c.events WHEN 'uniqueCount' THEN c.uniques
           WHEN 'sum' THEN c.sum WHEN 'average' THEN c.sum / nullif(c.events, 0)
           WHEN 'max' THEN c.max WHEN 'min' THEN c.min WHEN 'latest' THEN c.latest END
      """;

  private static final String NAMES =
      """
      SELECT quote_ident(table_name) FROM information_schema.tables
      WHERE table_schema = 'public' AND table_type = 'BASE TABLE'
      """;

  private Tables() {}

  /** The number of rows by table. */
  public static Map<String, Long> counts(Endpoint database) {
    Map<String, Long> counts = new TreeMap<>();
    dump(database).forEach((table, rows) -> counts.put(table, (long) rows.size()));
    return counts;
  }

  /** Every row as text, by table; {@code bytea} reads as hexadecimal digits. */
  public static Map<String, List<String>> dump(Endpoint database) {
    try (Connection connection = connect(database)) {
      Map<String, List<String>> dump = new TreeMap<>();
      for (String table : texts(connection, NAMES)) {
        dump.put(table, texts(connection, "SELECT t::text FROM " + table + " t"));
      }
      return dump;
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  /** The first column of a query's rows. */
  public static List<String> query(Endpoint database, String sql) {
    try (Connection connection = connect(database)) {
      return texts(connection, sql);
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  /** A connection of the test's own, for locks it wants to hold. */
  public static Connection connect(Endpoint database) throws SQLException {
    return database.connect();
  }

  private static List<String> texts(Connection connection, String sql) throws SQLException {
    List<String> texts = new ArrayList<>();
    try (ResultSet rows = connection.createStatement().executeQuery(sql)) {
      while (rows.next()) {
        texts.add(rows.getString(1));
      }
    }
    return texts;
  }
}

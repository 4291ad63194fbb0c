package io.steelyard.db;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.support.PostgresSupport;
import io.steelyard.support.Tables;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A page of a list in an order by time, id or text sorts no rows. */
class ListIndexesIT {
  private static final Endpoint DATABASE = PostgresSupport.migratedDatabase();
  private static final String MERCHANT = "'018f0000-0000-7000-8000-000000000000'";

  /** With all other ways forbidden, so that an empty table's statistics decide nothing. */
  private static String plan(String sql) throws SQLException {
    try (Connection connection = Tables.connect(DATABASE);
        Statement statement = connection.createStatement()) {
      statement.execute("SET enable_seqscan = off");
      statement.execute("SET enable_bitmapscan = off");
      statement.execute("SET enable_sort = off");
      StringBuilder plan = new StringBuilder();
      try (ResultSet rows = statement.executeQuery("EXPLAIN (COSTS off) " + sql)) {
        while (rows.next()) {
          plan.append(rows.getString(1)).append('\n');
        }
      }
      return plan.toString();
    }
  }

  @ParameterizedTest
  @CsvSource({
    "customer, created_at",
    "customer, updated_at",
    "customer, id",
    "customer, email",
    "customer, name",
    "customer, ledger_a_id",
    "customer, card_gateway_id",
    "subscription, created_at",
    "subscription, updated_at",
    "subscription, id",
    "subscription, start_date",
    "subscription, end_date",
    "invoice, created_at",
    "invoice, updated_at",
    "invoice, id",
    "invoice, due_date",
    "invoice, issue_date",
  })
  void theOrderIsThatOfAnIndex(String table, String column) throws SQLException {
    for (String direction : new String[] {"ASC", "DESC"}) {
      String plan =
          plan(
              "SELECT * FROM %1$s WHERE merchant_id = %2$s ORDER BY %3$s %4$s, id %4$s LIMIT 20"
                  .formatted(table, MERCHANT, column, direction));

      assertThat(plan).contains("Index Scan").doesNotContain("Sort");
    }
  }
}

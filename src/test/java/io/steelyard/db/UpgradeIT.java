package io.steelyard.db;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.domain.Id;
import io.steelyard.domain.IdKind;
import io.steelyard.support.Merchant;
import io.steelyard.support.PostgresSupport;
import io.steelyard.support.TestApp;
import io.steelyard.support.TestApp.Answer;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import org.flywaydb.core.Flyway;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** A database that version 1 has filled, under the newest schema and the service of today. */
class UpgradeIT {
  private static Endpoint upgraded;

  @BeforeAll
  static void upgrade() throws IOException {
    upgraded = PostgresSupport.emptyDatabase();
    Flyway.configure()
        .dataSource(upgraded.jdbcUrl(), upgraded.user(), upgraded.password())
        .locations("classpath:db/migration")
        .target("1")
        .load()
        .migrate();
    try (InputStream rows = UpgradeIT.class.getResourceAsStream("/db/version1.sql")) {
      PostgresSupport.execute(
          upgraded,
          new String(Objects.requireNonNull(rows).readAllBytes(), StandardCharsets.UTF_8));
    }
    Migrations.migrate(upgraded);
  }

  private static List<String> found(String sql) {
    return PostgresSupport.column(upgraded, sql);
  }

  /** A time in UTC, to the minute. */
  private static String minute(String column) {
    return "to_char(%s AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI')".formatted(column);
  }

  @Test
  void everySubscriptionIsDueWhenTheClockworkMustAct() {
    List<String> due =
        found(
            """
            SELECT concat_ws(' ', c.external_id, s.period_index,
                     to_char(s.due_at AT TIME ZONE 'UTC', 'YYYY-MM-DD HH24:MI:SS.MS'))
              FROM subscription s JOIN customer c ON c.id = s.customer_id ORDER BY s.id
            """);

    assertThat(due)
        .containsExactly(
            "monthly 0 2040-02-15 05:00:00.000",
            // looked at at once, for units within the period
            "annual 0 2040-01-15 05:00:00.001",
            "once 0 2040-01-15 05:00:00.001",
            "ended 0",
            "trial 0 2040-01-15 05:00:00.001",
            "pending 2040-02-20 05:00:00.000");
  }

  @Test
  void usageOfWhatHadEndedIsToBeBilled() {
    assertThat(
            found(
                """
                SELECT concat_ws(' ', c.external_id, r.period_index, r.usage, r.fixed, r.ended, %s)
                  FROM rebill r JOIN subscription s ON s.id = r.subscription_id
                  JOIN customer c ON c.id = s.customer_id
                """
                    .formatted(minute("r.since"))))
        .containsExactly("ended 0 t f t 2040-01-01 05:00");
  }

  @Test
  void unitsSayWhereTheyComeFromAndLiveAsLongAsTheirAllocation() {
    List<String> blocks =
        found(
            """
            SELECT concat_ws(' ', c.external_id, u.key, b.origin, %s, b.rollover_max)
              FROM allocation_block b JOIN customer c ON c.id = b.customer_id
              JOIN custom_pricing_unit u ON u.id = b.custom_pricing_unit_id
             ORDER BY c.id, u.key, b.origin DESC
            """
                .formatted(minute("b.expires_at")));

    assertThat(blocks)
        .containsExactly(
            "monthly credits plan 2040-02-15 05:00 20",
            "monthly credits manual",
            "monthly seats plan 2041-01-15 05:00",
            "annual credits plan 2040-02-15 05:00 20",
            "annual seats plan 2041-01-15 05:00",
            "once credits plan 2040-02-15 05:00 20",
            "once seats plan 2041-01-15 05:00",
            "ended credits plan 2040-01-01 05:00 20",
            "ended seats plan 2040-01-01 05:00",
            "trial credits plan 2040-02-15 05:00 20",
            "trial seats plan 2040-02-29 05:00");
  }

  @Test
  void invoicesKnowTheirBoundaryAndTheirLinesTheirPeriod() {
    assertThat(found("SELECT id FROM invoice WHERE boundary_at <> pending_date")).isEmpty();
    assertThat(found("SELECT count(*) FROM invoice WHERE finalise_at IS NULL"))
        .containsExactly("5");
    assertThat(found("SELECT DISTINCT kind || period_index FROM invoice_line_item"))
        .containsExactly("advance0");
  }

  @Test
  void whatIsMeteredHasItsFirstVersion() {
    assertThat(
            found(
                """
                SELECT concat_ws(' ', b.slug, r.rules ->> 'calculation', %s, r.active_until)
                  FROM billable_rules r JOIN billable b ON b.id = r.billable_id
                """
                    .formatted(minute("r.active_from"))))
        .containsExactly("calls sum 2025-01-01 00:00");
  }

  @Test
  void eachRowHangsOnOneOtherOnly() {
    assertThat(
            found(
                """
                SELECT conname FROM pg_constraint
                 WHERE contype = 'f' AND conrelid IN ('invoice'::regclass, 'outbox'::regclass,
                   'subscription'::regclass, 'allocation_block'::regclass,
                   'credit_transaction'::regclass, 'invoice_line_item'::regclass)
                 ORDER BY conname
                """))
        .containsExactly(
            "allocation_block_customer_id_fkey",
            "credit_transaction_allocation_block_id_fkey",
            "invoice_line_item_invoice_id_fkey",
            "invoice_subscription_id_fkey",
            "outbox_invoice_id_fkey",
            "subscription_customer_id_fkey");
  }

  @Test
  void theClockworkGoesOnWhereVersion1LeftOff() {
    Id merchantId =
        new Id(IdKind.MERCHANT, UUID.fromString("01900000-0000-7000-8000-000000000001"));
    try (TestApp app = TestApp.start(PostgresSupport.copyOf(upgraded), Map.of())) {
      Merchant merchant = new Merchant(app, merchantId.toString(), "");

      merchant.at("2040-03-16T12:00:00Z");

      assertThat(invoices(app.database()))
          .containsExactly(
              "monthly 0 test 49.00",
              "monthly 1 test 64.00", // with 30 calls at 50 cents
              "monthly 2 test 49.00",
              "annual 0 test 490.00",
              "once 0 test 900.00",
              "ended 0 test 49.00",
              "ended 2 test 15.00",
              "trial 0 paid 0.00",
              "trial 1 test 49.00",
              "pending 0 test 49.00");
      assertThat(credits(app.database()))
          .containsExactly(
              "monthly 2040-01-15 05:00 plan 100",
              "monthly 2040-02-15 05:00 plan 100",
              "monthly 2040-02-15 05:00 rollover 20",
              "monthly 2040-03-15 04:00 plan 100", // daylight saving time
              "monthly 2040-03-15 04:00 rollover 20",
              "annual 2040-01-15 05:00 plan 100",
              "annual 2040-02-15 05:00 plan 100",
              "annual 2040-02-15 05:00 rollover 20",
              "annual 2040-03-15 04:00 plan 100",
              "annual 2040-03-15 04:00 rollover 20",
              "once 2040-01-15 05:00 plan 100",
              "once 2040-02-15 05:00 plan 100",
              "once 2040-02-15 05:00 rollover 20",
              "once 2040-03-15 04:00 plan 100",
              "once 2040-03-15 04:00 rollover 20",
              "ended 2039-12-01 05:00 plan 100",
              "trial 2040-01-15 05:00 plan 100",
              "trial 2040-02-15 05:00 plan 100",
              "trial 2040-02-15 05:00 rollover 20",
              "trial 2040-02-29 05:00 plan 100",
              "trial 2040-02-29 05:00 rollover 20",
              "pending 2040-02-20 05:00 plan 100");
      Answer report = merchant.operator("GET", "/integrity").send(200);
      assertThat(report.<Boolean>at("clean")).as(report.text()).isTrue();
    }
  }

  private static List<String> invoices(Endpoint database) {
    return PostgresSupport.column(
        database,
        """
        SELECT concat_ws(' ', c.external_id, i.boundary_index, i.status, i.total::numeric(9, 2))
          FROM invoice i JOIN customer c ON c.id = i.customer_id ORDER BY c.id, i.boundary_index
        """);
  }

  private static List<String> credits(Endpoint database) {
    return PostgresSupport.column(
        database,
        """
        SELECT concat_ws(' ', c.external_id, %s, b.origin, trim_scale(b.amount))
          FROM allocation_block b JOIN customer c ON c.id = b.customer_id
          JOIN custom_pricing_unit u ON u.id = b.custom_pricing_unit_id
         WHERE u.key = 'credits' AND b.origin <> 'manual'
         ORDER BY c.id, b.effective_at, b.origin
        """
            .formatted(minute("b.effective_at")));
  }
}

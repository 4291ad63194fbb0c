package io.steelyard.integrity;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.support.TestApp;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Rows that name what is not there, or is another merchant's or another customer's. The catalogue
 * is joined, not asked in a subquery, which Citus would not take.
 */
class ReferencesIT {
  private static TestApp app;
  private static Books others;

  @BeforeAll
  static void start() {
    app = TestApp.start();
    others = new Books(app);
  }

  @AfterAll
  static void stop() {
    app.close();
  }

  private static final String NEW = " SELECT {stranger}";
  private static final String CLOSED = "references sub SELECT {closed}";
  private static final String INVOICE = "references inv SELECT {invoice}";
  private static final String BLOCK =
      "references blk SELECT id FROM allocation_block WHERE customer_id = {customer}";

  private static String anothers(String table) {
    return "(SELECT max(id::text)::uuid FROM " + table + " WHERE merchant_id <> {merchant})";
  }

  /** A subscription to come, with nothing but itself. */
  private static String subscription(String customer, String plan) {
    return """
        INSERT INTO subscription
        SELECT (json_populate_record(s, json_build_object('id', {stranger}, 'customer_id', %s,
                'plan_id', %s, 'status', 'pendingActivation', 'period_index', null,
                'due_at', null))).*
          FROM subscription s WHERE id = {open}
        """
        .formatted(customer, plan);
  }

  private static String setPeriods(String assignment) {
    return "UPDATE subscription_period SET %s WHERE subscription_id = {closed}"
        .formatted(assignment);
  }

  static List<Breakage> ofSubscriptions() {
    return List.of(
        Breakage.of(
            "a subscription of another merchant's customer",
            List.of("references sub" + NEW),
            subscription(anothers("customer"), "plan_id")),
        Breakage.of(
            "a subscription to another merchant's plan",
            List.of("references sub" + NEW),
            subscription("customer_id", anothers("plan"))),
        Breakage.of(
            "a subscription to a plan that is not there",
            List.of("references sub" + NEW),
            subscription("customer_id", "{stranger}")),
        Breakage.of(
            "periods of another merchant",
            List.of(CLOSED, CLOSED, "periods sub SELECT {closed}"),
            setPeriods("merchant_id = {stranger}")),
        Breakage.of(
            "periods of a customer that is not there",
            List.of(CLOSED, CLOSED),
            setPeriods("customer_id = {stranger}")),
        Breakage.of(
            "periods of a plan that is not there",
            List.of(CLOSED, CLOSED),
            setPeriods("plan_id = {stranger}")),
        Breakage.of(
            "units used in another merchant's name",
            List.of("references sub SELECT {open}"),
            "UPDATE credit_usage SET merchant_id = {stranger} WHERE subscription_id = {open}"),
        Breakage.of(
            "units used for a price that is not there",
            List.of(CLOSED),
            """
            INSERT INTO credit_usage (merchant_id, subscription_id, period_index, price_id,
                required, drawn)
            VALUES ({merchant}, {closed}, 0, {stranger}, 1, 0)
            """));
  }

  static List<Breakage> ofAccess() {
    List<Breakage> breakages = new ArrayList<>();
    for (String column : List.of("merchant_id", "customer_id", "billable_id")) {
      breakages.add(
          Breakage.of(
              "access with a " + column + " that is not there",
              List.of(
                  "references acc SELECT id FROM billable_access WHERE %s = {stranger}"
                      .formatted(column)),
              """
              UPDATE billable_access a SET %s = {stranger} FROM price p
               WHERE a.subscription_id = {open} AND a.billable_id = p.billable_id
                 AND p.id = {Calls}
              """
                  .formatted(column)));
    }
    return breakages;
  }

  private static String setAdvanceLine(String assignment) {
    return "UPDATE invoice_line_item SET %s WHERE invoice_id = {invoice} AND kind = 'advance'"
        .formatted(assignment);
  }

  static List<Breakage> ofInvoices() {
    String line =
        "references li SELECT id FROM invoice_line_item"
            + " WHERE invoice_id = {invoice} AND kind = 'advance'";
    return List.of(
        Breakage.of(
            "an invoice of a customer that is not there",
            List.of(INVOICE),
            "UPDATE invoice SET customer_id = {stranger} WHERE id = {invoice}"),
        Breakage.of(
            "an invoice of another merchant's subscription",
            List.of("references inv" + NEW),
            "UPDATE invoice_number SET last = last + 1 WHERE merchant_id = {merchant}",
            """
            INSERT INTO invoice
            SELECT (json_populate_record(i, json_build_object('id', {stranger},
                    'subscription_id', %s, 'boundary_index', 77, 'vanity_id', i.vanity_id + 1,
                    'total', 0))).*
              FROM invoice i WHERE id = {invoice}
            """
                .formatted(anothers("subscription"))),
        Breakage.of(
            "a line of another merchant",
            List.of(line, "totals inv SELECT {invoice}"),
            setAdvanceLine("merchant_id = {stranger}")),
        Breakage.of(
            "a line with another merchant's price",
            List.of(line),
            """
            UPDATE invoice_line_item l SET price_id = p.id FROM price p
             WHERE l.invoice_id = {invoice} AND l.kind = 'advance' AND p.merchant_id <> {merchant}
            """),
        Breakage.of(
            "a line with a price that is not there",
            List.of(line),
            setAdvanceLine("price_id = {stranger}")),
        Breakage.of(
            "a delivery by another merchant",
            List.of(INVOICE),
            """
            INSERT INTO outbox (id, merchant_id, invoice_id, action, idempotency_key, attempts,
                created_at)
            VALUES (gen_random_uuid(), {stranger}, {invoice}, 'sync', 'key', 0, now())
            """));
  }

  private static String setBlock(String assignment) {
    return "UPDATE allocation_block SET %s WHERE subscription_id = {open}".formatted(assignment);
  }

  static List<Breakage> ofBlocks() {
    return List.of(
        Breakage.of(
            "a block of another merchant", List.of(BLOCK), setBlock("merchant_id = {stranger}")),
        Breakage.of(
            "a block of another merchant's unit",
            List.of(BLOCK),
            """
            UPDATE allocation_block b SET custom_pricing_unit_id = u.id FROM custom_pricing_unit u
             WHERE b.subscription_id = {open} AND u.merchant_id <> {merchant}
            """),
        Breakage.of(
            "a block of a subscription that is not there",
            List.of(BLOCK),
            setBlock("subscription_id = {stranger}")),
        Breakage.of(
            "a block of another customer's subscription",
            List.of(BLOCK),
            """
            INSERT INTO customer
            SELECT (json_populate_record(c, json_build_object('id', {stranger},
                    'external_id', 'stranger'))).*
              FROM customer c WHERE id = {customer}
            """,
            subscription("{stranger}", "plan_id"),
            setBlock("subscription_id = {stranger}")),
        Breakage.of(
            "a block of an invoice that is not there",
            List.of(BLOCK),
            setBlock("invoice_id = {stranger}")));
  }

  static List<Breakage> ofTransactions() {
    String usage = "WHERE merchant_id = {merchant} AND type = 'usage'";
    String first = " WHERE id = (SELECT min(id::text)::uuid FROM credit_transaction %s)";
    String update = "UPDATE credit_transaction SET %s = {stranger}" + first.formatted(usage);
    String found = "references txn SELECT id FROM credit_transaction WHERE %s = {stranger}";
    String block = "ledger blk SELECT id FROM allocation_block WHERE customer_id = {customer}";
    return List.of(
        Breakage.of(
            "a transaction of another merchant",
            List.of(found.formatted("merchant_id"), block, block),
            update.formatted("merchant_id")),
        Breakage.of(
            "a transaction of a customer that is not there",
            List.of(found.formatted("customer_id")),
            update.formatted("customer_id")),
        Breakage.of(
            "a transaction for a billable that is not there",
            List.of(found.formatted("billable_id")),
            update.formatted("billable_id")));
  }

  @ParameterizedTest
  @MethodSource({"ofSubscriptions", "ofAccess", "ofInvoices", "ofBlocks", "ofTransactions"})
  void findsWhatNamesNothingOfItsOwnAndNothingElse(Breakage breakage) {
    breakage.isFoundIn(new Books(app));
    assertThat(others.check().<Boolean>at("clean")).isTrue();
  }

  @Test
  void aDetailTellsWhatIsNamed() {
    Books books = new Books(app);
    books.sql(setAdvanceLine("price_id = {stranger}"));

    assertThat(books.check().<String>at("findings.0.detail"))
        .isEqualTo("names what is not its own: price " + books.one("SELECT {stranger}"));
  }
}

package io.steelyard.integrity;

import io.steelyard.domain.Id;
import io.steelyard.domain.IdKind;
import io.steelyard.support.Merchant;
import io.steelyard.support.PostgresSupport;
import io.steelyard.support.TestApp;
import io.steelyard.support.TestApp.Answer;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/**
 * A merchant whose one customer has a subscription in its first period, with units drawn, and one
 * whose first period is closed and billed. All of it is consistent until a test breaks it.
 */
final class Books {
  static final String CATALOG =
      """
      customPricingUnits:
        - {key: credits, displayName: Credits, displayNameSingular: Credit, shortName: cr}
      billables:
        - slug: calls
          name: Calls
          eventQueryRules:
            conditions: [[{key: eventName, rule: matches, value: call}]]
            calculation: sum
            overProperty: data.count
        - slug: users
          name: Users
          eventQueryRules:
            conditions: [[{key: eventName, rule: matches, value: call}]]
            calculation: uniqueCount
            overProperty: data.count
        - slug: tokens
          name: Tokens
          eventQueryRules:
            conditions: [[{key: eventName, rule: matches, value: tokens}]]
            calculation: sum
            overProperty: data.count
      plans:
        - externalId: pro
          name: Pro
          basePrices: {monthly: 49}
          prices:
            - {name: Calls, billable: calls, billingMode: arrears, priceType: unit,
               rules: {quantity: 1, price: 0.005}}
            - {name: Users, billable: users, billingMode: arrears, priceType: unit,
               rules: {quantity: 1, price: 1}}
            - {name: Tokens, billable: tokens, billingMode: arrears, priceType: unit,
               rules: {quantity: 1, price: 1}, usesCustomPricingUnit: true,
               customPricingUnit: credits}
          allocations:
            - {customPricingUnit: credits, amount: 100, billingCadence: monthly}
      defaultPlan: pro
      """;

  private static final Instant CLOSED_DAY = Instant.parse("2031-02-10T00:00:00Z");
  private static final Instant OPEN_DAY = Instant.parse("2031-03-11T00:00:00Z");

  final TestApp app;
  final Merchant merchant;
  final String customer;
  private final Map<String, UUID> names = new HashMap<>();

  Books(TestApp app) {
    this.app = app;
    this.merchant = app.merchant("test", CATALOG).at("2031-03-10T00:00:00Z");
    this.customer = merchant.customerId("one");
    names.put("merchant", uuid(IdKind.MERCHANT, merchant.id()));
    names.put("customer", uuid(IdKind.CUSTOMER, customer));
    names.put("closed", UUID.randomUUID());
    names.put("invoice", UUID.randomUUID());
    names.put("stranger", UUID.randomUUID());
    names.put(
        "open", UUID.fromString(one("SELECT id FROM subscription WHERE merchant_id = {merchant}")));
    for (String name : List.of("Calls", "Users", "Tokens")) {
      names.put(
          name,
          UUID.fromString(
              one(
                  "SELECT id FROM price WHERE merchant_id = {merchant} AND name = '%s'"
                      .formatted(name))));
    }
    sql("UPDATE subscription SET period_index = 0 WHERE id = {open}");
    subscribeLastMonth();
    useAndBill();
  }

  private void subscribeLastMonth() {
    sql(
        """
        INSERT INTO subscription (id, merchant_id, customer_id, plan_id, status, start_date,
            billing_cadence, currency, allow_customer_changes, auto_charge_invoice,
            auto_sync_invoice, auto_send_invoice, is_trial, created_at, updated_at, period_index)
        SELECT {closed}, merchant_id, customer_id, plan_id, 'active', '2031-02-01Z',
               billing_cadence, currency, false, false, false, false, false, '2031-02-01Z',
               '2031-02-01Z', 1
          FROM subscription WHERE id = {open}
        """,
        """
        INSERT INTO subscription_period (merchant_id, subscription_id, period_index, customer_id,
            plan_id, period_start, period_end, is_trial, opened_at, ready_until)
        SELECT p.merchant_id, {closed}, t.index, p.customer_id, p.plan_id, t.starts, t.ends, false,
               p.opened_at, t.ends
          FROM subscription_period p,
               (VALUES (0, timestamptz '2031-02-01Z', timestamptz '2031-03-01Z'),
                       (1, timestamptz '2031-03-01Z', timestamptz '2031-04-01Z'))
                 AS t (index, starts, ends)
         WHERE p.subscription_id = {open}
        """);
  }

  /** 301 calls by 2 users cost 1.505 and 2; 30 tokens are drawn by both subscriptions. */
  private void useAndBill() {
    List<Map<String, Object>> events = new ArrayList<>();
    events.add(merchant.event(customer, "call", 300, "a", CLOSED_DAY));
    events.add(merchant.event(customer, "call", 1, "b", CLOSED_DAY.plusSeconds(1)));
    events.add(merchant.event(customer, "tokens", 10, "c", OPEN_DAY));
    events.add(merchant.event(customer, "tokens", 20, "d", OPEN_DAY.plusSeconds(1)));
    send(events);
    awaitFolded();
    sql(
        """
        UPDATE invoice_number SET last = last + 1 WHERE merchant_id = {merchant}
        """,
        """
        INSERT INTO invoice (id, merchant_id, customer_id, subscription_id, boundary_index, status,
            vanity_id, currency, total, net_terms, auto_sync_invoice, auto_send_invoice,
            auto_charge_invoice, created_at, updated_at, boundary_at)
        SELECT {invoice}, merchant_id, customer_id, {closed}, 1, 'test', vanity_id + 1, currency,
               52.51, net_terms, false, false, false, created_at, updated_at, '2031-03-01Z'
          FROM invoice WHERE subscription_id = {open}
        """,
        line("advance", 1, "NULL", "49", "49"),
        line("arrears", 0, "{Calls}", "1.505", "1.51"),
        line("arrears", 0, "{Users}", "2", "2"),
        "DELETE FROM rebill WHERE subscription_id = {closed}");
  }

  /** A line of the closed subscription's invoice; without a price it is for the plan's base. */
  private static String line(String kind, int period, String price, String exact, String amount) {
    return """
        INSERT INTO invoice_line_item (id, merchant_id, invoice_id, position, price_id, description,
            quantity, unit_price, exact_amount, amount, start_date, end_date, created_at,
            updated_at, kind, period_index)
        SELECT gen_random_uuid(), merchant_id, {invoice}, 0, coalesce(%s, price_id), 'a line', 1, 1,
               %s, %s, start_date, end_date, created_at, updated_at, '%s', %d
          FROM invoice_line_item
         WHERE invoice_id = (SELECT id FROM invoice WHERE subscription_id = {open})
        """
        .formatted(price, exact, amount, kind, period);
  }

  void send(List<Map<String, Object>> events) {
    merchant.call("POST", "/external/event/").json(events).send(202);
  }

  void awaitFolded() {
    try {
      String waiting =
          """
          SELECT (SELECT count(*) FROM event_batch WHERE merchant_id = {merchant})
               + (SELECT count(*) FROM subscription_period
                   WHERE merchant_id = {merchant} AND ready_until < period_end)
          """;
      if (!"0".equals(Merchant.eventually(() -> one(waiting), "0"::equals))) {
        throw new AssertionError("events or periods still wait");
      }
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  /** Runs statements with {@code {closed}}, {@code {open}} and the other names filled in. */
  void sql(String... statements) {
    String[] filled = new String[statements.length];
    for (int i = 0; i < filled.length; i++) {
      filled[i] = fill(statements[i]);
    }
    PostgresSupport.execute(app.database(), filled);
  }

  String one(String query) {
    return PostgresSupport.column(app.database(), fill(query)).getFirst();
  }

  private String fill(String sql) {
    String filled = sql;
    for (Map.Entry<String, UUID> name : names.entrySet()) {
      filled = filled.replace("{" + name.getKey() + "}", "'" + name.getValue() + "'::uuid");
    }
    return filled;
  }

  Answer check() {
    return merchant.operator("GET", "/integrity").send(200);
  }

  /** {@code check subject}, the subject with the prefix of its kind and its UUID. */
  static List<String> findings(Answer report) {
    List<Map<String, String>> findings = report.at("findings");
    return findings.stream()
        .map(each -> each.get("check") + " " + named(each.get("subject")))
        .toList();
  }

  private static String named(String id) {
    for (IdKind kind : IdKind.values()) {
      if (Id.parse(kind, id).isPresent()) {
        return kind.prefix() + " " + Id.parse(kind, id).get().uuid();
      }
    }
    throw new AssertionError("no id: " + id);
  }

  private static UUID uuid(IdKind kind, String id) {
    return Id.parse(kind, id).orElseThrow().uuid();
  }
}

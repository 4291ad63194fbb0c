package io.steelyard.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.support.Merchant;
import io.steelyard.support.Tables;
import io.steelyard.support.TestApp;
import io.steelyard.support.TestApp.Answer;
import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.TestInstance;

/** A customer since March whose plan has a price for each calculation, and what it uses. */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
abstract class MeteredCustomer {
  static final Instant MARCH = Instant.parse("2040-03-01T00:00:00Z");
  static final Instant APRIL = Instant.parse("2040-04-01T00:00:00Z");
  static final Instant MAY = Instant.parse("2040-05-01T00:00:00Z");
  static final Instant MID_MARCH = Instant.parse("2040-03-15T12:00:00Z");
  static final List<String> CALCULATIONS =
      List.of("sum", "count", "max", "min", "average", "uniqueCount", "latest");
  static final String CATALOG = catalog();

  TestApp app;
  Merchant merchant;
  String customer;
  HandMadeInvoices invoices;

  /** A price for each calculation over the events named use, and one for what a user does. */
  private static String catalog() {
    StringBuilder billables = new StringBuilder("billables:\n");
    StringBuilder prices = new StringBuilder();
    for (String calculation : CALCULATIONS) {
      billables.append(
          """
            - slug: %s
              name: %1$s
              eventQueryRules:
                conditions: [[{key: eventName, rule: matches, value: use}]]
                calculation: %1$s
          """
              .formatted(calculation));
      if (!calculation.equals("count")) {
        billables.append("      overProperty: data.v\n");
      }
      prices.append(price(calculation));
    }
    billables.append(
        """
          - slug: either
            name: either
            eventQueryRules:
              conditions:
                - [{key: eventName, rule: in, value: [use, other]}]
                - [{key: userId, rule: startsWith, value: bot}]
              calculation: count
        """);
    return billables
        + """
        plans:
          - externalId: all
            name: All
            basePrices: {monthly: 5}
            prices:
        """
        + prices
        + price("either")
        + "defaultPlan: all\n";
  }

  private static String price(String billable) {
    return """
          - {name: %s, billable: %1$s, billingMode: arrears, priceType: unit,
             rules: {quantity: 1, price: 1}}
    """
        .formatted(billable);
  }

  @BeforeAll
  void start() {
    app = TestApp.start(Map.of("explain.scanEventsMax", "3"));
  }

  @AfterAll
  void stop() {
    app.close();
  }

  @BeforeEach
  void aCustomerSinceMarch() {
    merchant = app.merchant("test", CATALOG).at(MARCH.toString());
    Map<String, Object> created = merchant.createCustomer("c");
    customer = (String) created.get("id");
    invoices = HandMadeInvoices.of(app, Answer.at(created, "subscriptions.0.id"));
  }

  Map<String, Object> event(String name, Instant at, Object value) {
    Map<String, Object> event = new HashMap<>();
    event.put("customerId", customer);
    event.put("eventName", name);
    event.put("generatedAt", at.toString());
    event.put("idempotencyKey", UUID.randomUUID().toString());
    if (value != null) {
      event.put("data", Map.of("v", value));
    }
    return event;
  }

  void send(List<Map<String, Object>> events) {
    merchant.call("POST", "/external/event").json(events).send(202);
  }

  /** Sends and waits for the fold. */
  void count(List<Map<String, Object>> events) throws Exception {
    send(events);
    awaitFold();
  }

  void awaitFold() throws Exception {
    String waiting =
        """
        SELECT period_index FROM subscription_period WHERE ready_until < period_end
        UNION ALL SELECT events FROM event_batch
        """;
    assertThat(Merchant.eventually(() -> Tables.query(app.database(), waiting), List::isEmpty))
        .isEmpty();
  }

  void count(Map<String, Object> event) throws Exception {
    count(List.of(event));
  }

  Map<String, Object> line(String invoice, String price) {
    List<Map<String, Object>> lines =
        merchant.get("/external/invoices/" + invoice + "/with-line-items").at("invoiceLineItems");
    return lines.stream()
        .filter(line -> line.get("description").equals(price))
        .findFirst()
        .orElseThrow();
  }

  static BigDecimal quantity(Map<String, Object> line) {
    return new BigDecimal(Answer.at(line, "details.quantity").toString());
  }

  Answer ask(String invoice, Object line, String query) {
    return merchant.get(
        "/external/invoices/" + invoice + "/line-items/" + line + "/events" + query);
  }

  List<Map<String, Object>> events(String invoice, String price) {
    Answer answer = ask(invoice, line(invoice, price).get("id"), "?order=asc&pageSize=100");
    List<Map<String, Object>> events = answer.at("results");
    assertThat(answer.<Integer>at("count")).isEqualTo(events.size());
    return events;
  }

  static List<Object> values(List<Map<String, Object>> events) {
    return events.stream()
        .<Object>map(event -> event.get("data") == null ? "none" : Answer.at(event, "data.v"))
        .toList();
  }

  Connection connect() throws SQLException {
    return app.database().connect();
  }
}

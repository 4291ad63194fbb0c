package io.steelyard.oracle;

import io.steelyard.oracle.Expected.Kind;
import io.steelyard.oracle.Expected.Line;
import io.steelyard.support.Merchant;
import io.steelyard.support.TestApp.Answer;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The invoices that the service shows for a played history, and what is wrong with them. */
final class Ledger {
  private static final BigDecimal QUANTITY_ERROR = new BigDecimal("1E-18");

  private final Player player;
  private final Set<Object> seenFinal = new HashSet<>();
  private final List<String> faults = new ArrayList<>();

  Ledger(Player player) {
    this.player = player;
  }

  /**
   * What differs from the expectation; empty if nothing does.
   *
   * @param expected of each subscription, in the order of their boundaries
   * @param all also the invoices that were final when looked at before
   */
  List<String> check(Map<Integer, List<Expected>> expected, boolean all) {
    faults.clear();
    Map<Object, List<Map<String, Object>>> shown = new HashMap<>();
    long number = 0;
    for (Map<String, Object> head : heads()) {
      same("vanityId of the next invoice", ++number, ((Number) head.get("vanityId")).longValue());
      shown.computeIfAbsent(head.get("subscriptionId"), id -> new ArrayList<>()).add(head);
    }
    expected.forEach(
        (subscription, invoices) ->
            check(
                invoices, shown.getOrDefault(player.subscriptionId(subscription), List.of()), all));
    return List.copyOf(faults);
  }

  private List<Map<String, Object>> heads() {
    List<Map<String, Object>> heads = new ArrayList<>();
    for (int page = 1; heads.size() == (page - 1) * 100; page++) {
      heads.addAll(
          player
              .merchant()
              .operator("GET", "/invoices?pageSize=100&orderBy=vanityId&order=asc&page=" + page)
              .send(200)
              .<List<Map<String, Object>>>at("results"));
    }
    return heads;
  }

  private void check(List<Expected> expected, List<Map<String, Object>> shown, boolean all) {
    for (int i = 0; i < Math.max(expected.size(), shown.size()); i++) {
      if (i >= shown.size()) {
        faults.add("missing: " + expected.get(i));
      } else if (i >= expected.size()) {
        faults.add("not expected: " + text(invoice(player.merchant(), shown.get(i).get("id"))));
      } else if (all || !seenFinal.contains(shown.get(i).get("id"))) {
        check(expected.get(i), invoice(player.merchant(), shown.get(i).get("id")), all);
      }
    }
  }

  private static Answer invoice(Merchant merchant, Object id) {
    return merchant.call("GET", "/external/invoices/" + id + "/with-line-items").send(200);
  }

  private void check(Expected expected, Answer shown, boolean explained) {
    int before = faults.size();
    same("pendingDate", expected.boundaryAt(), time(shown.at("pendingDate")));
    List<Line> lines = new ArrayList<>(expected.advance());
    if (expected.isPending()) {
      same("status", "pending", shown.at("status"));
    } else {
      same("status", expected.last().status(), shown.at("status"));
      same("issueDate", expected.last().issueDate(), time(shown.at("issueDate")));
      same("dueDate", expected.last().dueDate(), time(shown.at("dueDate")));
      lines.addAll(expected.last().others());
    }
    List<Map<String, Object>> open =
        new ArrayList<>(shown.<List<Map<String, Object>>>at("invoiceLineItems"));
    for (Line line : lines) {
      Map<String, Object> item =
          open.stream().filter(each -> isSame(line, each)).findFirst().orElse(null);
      if (item == null) {
        faults.add("no such line: " + line);
      } else {
        open.remove(item);
        if (explained && line.events() != null) {
          explain(line, item);
        }
      }
    }
    if (!expected.isPending()) {
      open.forEach(item -> faults.add("a line too much: " + text(item)));
      seenFinal.add(shown.at("id"));
    }
    if (faults.size() > before) {
      faults.add("in what should be " + expected + "\n  but is " + text(shown));
    }
  }

  /** A line of usage names the events that it was computed from. */
  private void explain(Line line, Map<String, Object> item) {
    String path = "/external/invoices/" + item.get("invoiceId") + "/line-items/" + item.get("id");
    List<Map<String, Object>> events =
        player.merchant().call("GET", path + "/events?pageSize=100").send(200).at("results");
    List<String> named =
        events.stream().map(Ledger::event).filter(event -> !event.endsWith(" null")).toList();
    List<String> counted =
        line.events().stream()
            .filter(event -> event.value() != null)
            .map(event -> event.name() + " " + event.at() + " " + event.value())
            .toList();
    same("events of " + line, sorted(counted), sorted(named));
  }

  private static String event(Map<String, Object> event) {
    Object value = event.get("data") == null ? null : Answer.at(event, "data.value");
    return event.get("eventName") + " " + time(event.get("generatedAt")) + " " + value;
  }

  private static List<String> sorted(List<String> texts) {
    return texts.stream().sorted().toList();
  }

  private boolean isSame(Line line, Map<String, Object> item) {
    BigDecimal quantity = decimal(Answer.at(item, "details.quantity"));
    String mode = line.kind() == Kind.ARREARS ? "arrears" : Answer.at(item, "price.billingMode");
    return line.price().equals(player.slug((String) item.get("priceId")))
        && mode.equals(Answer.at(item, "price.billingMode"))
        && line.start().equals(time(item.get("startDate")))
        && line.end().equals(time(item.get("endDate")))
        && line.amount().compareTo(decimal(item.get("amount"))) == 0
        && line.quantity().decimal(30).subtract(quantity).abs().compareTo(QUANTITY_ERROR) <= 0;
  }

  private String text(Answer invoice) {
    StringBuilder text = new StringBuilder();
    text.append(
        "#%s at %s %s %s due %s"
            .formatted(
                invoice.<Object>at("vanityId"),
                invoice.at("pendingDate"),
                invoice.at("status"),
                invoice.at("issueDate"),
                invoice.at("dueDate")));
    for (Map<String, Object> item : invoice.<List<Map<String, Object>>>at("invoiceLineItems")) {
      text.append("\n    ").append(text(item));
    }
    return text.toString();
  }

  private String text(Map<String, Object> item) {
    return "%s \"%s\" %s..%s x %s = %s"
        .formatted(
            player.slug((String) item.get("priceId")),
            item.get("description"),
            item.get("startDate"),
            item.get("endDate"),
            Answer.at(item, "details.quantity"),
            item.get("amount"));
  }

  private void same(String what, Object expected, Object shown) {
    if (!expected.equals(shown)) {
      faults.add("%s should be %s but is %s".formatted(what, expected, shown));
    }
  }

  private static Instant time(Object text) {
    return text == null ? null : Instant.parse((String) text);
  }

  private static BigDecimal decimal(Object number) {
    return new BigDecimal(number.toString());
  }
}

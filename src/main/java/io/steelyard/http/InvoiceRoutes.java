package io.steelyard.http;

import io.steelyard.bus.Bus;
import io.steelyard.domain.Paging;
import io.steelyard.invoice.InvoiceMessages.GetInvoiceWithLineItems;
import io.steelyard.usage.ExplainMessages.ListLineEvents;
import io.steelyard.web.Answer;
import io.steelyard.web.Endpoint;
import io.steelyard.web.Exchange;
import io.vertx.core.Future;
import java.util.List;
import java.util.Set;

/** {@code /external/invoices}. */
final class InvoiceRoutes {
  private final Bus bus;

  InvoiceRoutes(Bus bus) {
    this.bus = bus;
  }

  List<Endpoint> endpoints() {
    return List.of(
        Endpoint.get("/external/invoices/{invoiceId}/with-line-items", this::withLineItems),
        Endpoint.get(
            "/external/invoices/{invoiceId}/line-items/{lineItemId}/events", this::lineEvents));
  }

  private Future<Answer> withLineItems(Exchange exchange) {
    exchange.query().check();
    return bus.ask(new GetInvoiceWithLineItems(exchange.path("invoiceId")), exchange.call())
        .map(Answer::ok);
  }

  private Future<Answer> lineEvents(Exchange exchange) {
    Paging paging = exchange.query().paging(Set.of());
    exchange.query().check();
    return bus.ask(
            new ListLineEvents(exchange.path("invoiceId"), exchange.path("lineItemId"), paging),
            exchange.call())
        .map(Answer::ok);
  }
}

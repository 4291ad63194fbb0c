package io.steelyard.http;

import io.steelyard.bus.Bus;
import io.steelyard.invoice.InvoiceMessages.GetInvoiceWithLineItems;
import io.steelyard.web.Answer;
import io.steelyard.web.Endpoint;
import io.steelyard.web.Exchange;
import io.vertx.core.Future;
import java.util.List;

/** {@code /external/invoices}. */
final class InvoiceRoutes {
  private final Bus bus;

  InvoiceRoutes(Bus bus) {
    this.bus = bus;
  }

  List<Endpoint> endpoints() {
    return List.of(
        Endpoint.get("/external/invoices/{invoiceId}/with-line-items", this::withLineItems));
  }

  private Future<Answer> withLineItems(Exchange exchange) {
    exchange.query().check();
    return bus.ask(new GetInvoiceWithLineItems(exchange.path("invoiceId")), exchange.call())
        .map(Answer::ok);
  }
}

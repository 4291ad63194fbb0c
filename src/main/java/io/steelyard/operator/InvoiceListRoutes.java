package io.steelyard.operator;

import io.steelyard.bus.Bus;
import io.steelyard.domain.InvoiceStatus;
import io.steelyard.invoice.InvoiceMessages.GetInvoice;
import io.steelyard.invoice.InvoiceMessages.ListInvoices;
import io.steelyard.invoice.InvoiceMessages.ListTransitions;
import io.steelyard.web.Answer;
import io.steelyard.web.Endpoint;
import io.steelyard.web.Exchange;
import io.steelyard.web.Query;
import io.vertx.core.Future;
import java.util.List;
import java.util.Set;

/** A merchant's invoices and their histories. */
final class InvoiceListRoutes {
  private static final String INVOICES = "/operator/merchants/{id}/invoices";
  private static final List<String> FILTERS = List.of("customerId", "subscriptionId", "status");
  private static final Set<String> ORDER_BY =
      Set.of("createdAt", "dueDate", "id", "issueDate", "status", "updatedAt", "vanityId");

  private final Bus bus;
  private final MerchantScope scope;

  InvoiceListRoutes(Bus bus, MerchantScope scope) {
    this.bus = bus;
    this.scope = scope;
  }

  List<Endpoint> endpoints() {
    return List.of(
        Endpoint.get(INVOICES, this::list),
        Endpoint.get(INVOICES + "/{invoiceId}", this::get),
        Endpoint.get(INVOICES + "/{invoiceId}/transitions", this::transitions));
  }

  private Future<Answer> list(Exchange exchange) {
    Query query = exchange.query();
    query.mustName("status", InvoiceStatus.class);
    ListInvoices list = new ListInvoices(query.filters(FILTERS), query.paging(ORDER_BY));
    query.check();
    return scope.of(exchange).compose(call -> bus.ask(list, call)).map(Answer::ok);
  }

  private Future<Answer> get(Exchange exchange) {
    exchange.query().check();
    GetInvoice get = new GetInvoice(exchange.path("invoiceId"));
    return scope.of(exchange).compose(call -> bus.ask(get, call)).map(Answer::ok);
  }

  private Future<Answer> transitions(Exchange exchange) {
    Query query = exchange.query();
    ListTransitions list = new ListTransitions(exchange.path("invoiceId"), query.paging(Set.of()));
    query.check();
    return scope.of(exchange).compose(call -> bus.ask(list, call)).map(Answer::ok);
  }
}

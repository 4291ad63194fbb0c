package io.steelyard.operator;

import io.steelyard.bus.Bus;
import io.steelyard.domain.InvoiceStatus;
import io.steelyard.invoice.InvoiceMessages.ListInvoices;
import io.steelyard.web.Answer;
import io.steelyard.web.Endpoint;
import io.steelyard.web.Exchange;
import io.steelyard.web.Query;
import io.vertx.core.Future;
import java.util.List;
import java.util.Set;

/** A merchant's invoices. */
final class InvoiceListRoutes {
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
    return List.of(Endpoint.get("/operator/merchants/{id}/invoices", this::list));
  }

  private Future<Answer> list(Exchange exchange) {
    Query query = exchange.query();
    query.mustName("status", InvoiceStatus.class);
    ListInvoices list = new ListInvoices(query.filters(FILTERS), query.paging(ORDER_BY));
    query.check();
    return scope.of(exchange).compose(call -> bus.ask(list, call)).map(Answer::ok);
  }
}

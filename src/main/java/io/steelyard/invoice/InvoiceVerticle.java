package io.steelyard.invoice;

import io.steelyard.bus.Address;
import io.steelyard.bus.Call;
import io.steelyard.bus.Failure;
import io.steelyard.bus.FailureException;
import io.steelyard.bus.Reply;
import io.steelyard.db.Pools;
import io.steelyard.db.Sql;
import io.steelyard.db.StoreVerticle;
import io.steelyard.domain.IdKind;
import io.steelyard.invoice.InvoiceMessages.GetInvoiceWithLineItems;
import io.steelyard.invoice.InvoiceMessages.InvoicePage;
import io.steelyard.invoice.InvoiceMessages.InvoiceView;
import io.steelyard.invoice.InvoiceMessages.ListInvoices;
import io.steelyard.invoice.InvoiceStore.Filter;
import io.vertx.core.Future;
import java.util.List;

/** Answers for invoices. */
public final class InvoiceVerticle extends StoreVerticle<InvoiceMessages<?>> {
  private final InvoiceStore store = new InvoiceStore();

  public InvoiceVerticle(Settings settings, Pools pools) {
    super(Address.INVOICE, settings, pools);
  }

  @Override
  protected Future<? extends Reply> handle(InvoiceMessages<?> message, Call call) {
    return switch (message) {
      case GetInvoiceWithLineItems get -> get(get, call);
      case ListInvoices list -> list(list, call);
    };
  }

  private Future<InvoiceView> get(GetInvoiceWithLineItems get, Call call) {
    return store
        .findWithLines(pool, call.merchantId(), Sql.uuid(IdKind.INVOICE, get.id()))
        .compose(
            invoice ->
                invoice
                    .map(Future::succeededFuture)
                    .orElseGet(() -> FailureException.failed(Failure.notFound("invoice"))));
  }

  private Future<InvoicePage> list(ListInvoices list, Call call) {
    Filter filter =
        new Filter(
            Sql.filter(IdKind.CUSTOMER, list.filters().get("customerId")),
            Sql.filter(IdKind.SUBSCRIPTION, list.filters().get("subscriptionId")),
            list.filters().get("status"));
    return store
        .count(pool, call.merchantId(), filter)
        .compose(
            count ->
                store
                    .page(pool, call.merchantId(), filter, list.paging())
                    .map(page -> page(page, count, list)));
  }

  private static InvoicePage page(List<InvoiceView> page, long count, ListInvoices list) {
    return new InvoicePage(page, count, list.paging().pages(count), list.paging().page());
  }
}

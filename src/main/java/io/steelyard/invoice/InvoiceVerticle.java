package io.steelyard.invoice;

import io.steelyard.bus.Address;
import io.steelyard.bus.Call;
import io.steelyard.bus.Failure;
import io.steelyard.bus.FailureException;
import io.steelyard.bus.Reply;
import io.steelyard.db.Idempotency;
import io.steelyard.db.Pools;
import io.steelyard.db.Sql;
import io.steelyard.db.StoreVerticle;
import io.steelyard.db.Transactions;
import io.steelyard.domain.IdKind;
import io.steelyard.invoice.InvoiceMessages.GetInvoice;
import io.steelyard.invoice.InvoiceMessages.GetInvoiceWithLineItems;
import io.steelyard.invoice.InvoiceMessages.InvoicePage;
import io.steelyard.invoice.InvoiceMessages.InvoiceView;
import io.steelyard.invoice.InvoiceMessages.ListInvoices;
import io.steelyard.invoice.InvoiceMessages.ListTransitions;
import io.steelyard.invoice.InvoiceMessages.RecordPayment;
import io.steelyard.invoice.InvoiceMessages.RequestCollection;
import io.steelyard.invoice.InvoiceMessages.RequestRebill;
import io.steelyard.invoice.InvoiceMessages.RequestSending;
import io.steelyard.invoice.InvoiceMessages.RequestSync;
import io.steelyard.invoice.InvoiceMessages.TransitionPage;
import io.steelyard.invoice.InvoiceMessages.VoidInvoice;
import io.steelyard.invoice.InvoiceMessages.WriteOff;
import io.steelyard.invoice.InvoiceStore.Filter;
import io.steelyard.merchant.MerchantClock;
import io.vertx.core.Future;
import io.vertx.sqlclient.SqlClient;
import io.vertx.sqlclient.SqlConnection;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Function;

/** Answers for invoices, and changes their states as operators ask for it. */
public final class InvoiceVerticle extends StoreVerticle<InvoiceMessages<?>> {
  private final InvoiceStore store = new InvoiceStore();
  private final TransitionStore transitions = new TransitionStore();
  private final InvoiceChanges changes;
  private final Rebilling rebilling;
  private final Idempotency idempotency;

  public InvoiceVerticle(
      Settings settings, Pools pools, MerchantClock clock, Idempotency idempotency) {
    super(Address.INVOICE, settings, pools);
    this.idempotency = idempotency;
    this.changes = new InvoiceChanges(clock);
    this.rebilling = new Rebilling(clock);
  }

  @Override
  protected Future<? extends Reply> handle(InvoiceMessages<?> message, Call call) {
    return switch (message) {
      case GetInvoiceWithLineItems get ->
          found(store.findWithLines(pool, call.merchantId(), uuid(get.id())));
      case GetInvoice get -> whole(pool, call, get.id());
      case ListInvoices list -> list(list, call);
      case ListTransitions list -> list(list, call);
      case RecordPayment pay ->
          changed(call, pay.id(), tx -> changes.pay(tx, call, pay.id(), pay.reference()));
      case VoidInvoice end ->
          changed(call, end.id(), tx -> changes.makeVoid(tx, call, end.id(), end.reason()));
      case WriteOff end ->
          changed(call, end.id(), tx -> changes.writeOff(tx, call, end.id(), end.reason()));
      case RequestRebill rebill ->
          Transactions.run(pool, tx -> rebilling.request(tx, call, rebill));
      case RequestSync sync -> requested(call, sync.id(), tx -> changes.sync(tx, call, sync.id()));
      case RequestSending send ->
          requested(call, send.id(), tx -> changes.send(tx, call, send.id()));
      case RequestCollection collect ->
          requested(call, collect.id(), tx -> changes.collect(tx, call, collect.id()));
    };
  }

  private static UUID uuid(String id) {
    return Sql.uuid(IdKind.INVOICE, id);
  }

  private static Future<InvoiceView> found(Future<Optional<InvoiceView>> invoice) {
    return invoice.compose(
        view ->
            view.map(Future::succeededFuture)
                .orElseGet(() -> FailureException.failed(Failure.notFound("invoice"))));
  }

  private Future<InvoiceView> whole(SqlClient client, Call call, String id) {
    return found(store.findWhole(client, call.merchantId(), uuid(id)));
  }

  private Future<Reply> changed(
      Call call, String id, Function<SqlConnection, Future<Void>> change) {
    return idempotency.once(
        pool, call, tx -> change.apply(tx).compose(done -> whole(tx, call, id)));
  }

  /** The delivery need not wait for its next round. */
  private Future<Reply> requested(
      Call call, String id, Function<SqlConnection, Future<Void>> change) {
    return changed(call, id, change)
        .onSuccess(done -> vertx.eventBus().publish(Address.DELIVERIES_WAITING, ""));
  }

  private Future<TransitionPage> list(ListTransitions list, Call call) {
    UUID invoiceId = uuid(list.invoiceId());
    return found(store.findHead(pool, call.merchantId(), invoiceId))
        .compose(known -> transitions.count(pool, call.merchantId(), invoiceId))
        .compose(
            count ->
                transitions
                    .page(pool, call.merchantId(), invoiceId, list.paging())
                    .map(
                        page ->
                            new TransitionPage(
                                page, count, list.paging().pages(count), list.paging().page())));
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

package io.steelyard.invoice;

import io.steelyard.bus.Call;
import io.steelyard.bus.Failure;
import io.steelyard.bus.FailureException;
import io.steelyard.credit.Reversals;
import io.steelyard.db.CustomerLocks;
import io.steelyard.db.Sql;
import io.steelyard.domain.Actor;
import io.steelyard.domain.DeliveryAction;
import io.steelyard.domain.Id;
import io.steelyard.domain.IdKind;
import io.steelyard.domain.InvoiceStatus;
import io.steelyard.domain.PeriodKey;
import io.steelyard.invoice.InvoiceOrder.Head;
import io.steelyard.invoice.TransitionStore.Cause;
import io.steelyard.invoice.TransitionStore.InvoiceChange;
import io.steelyard.merchant.MerchantClock;
import io.vertx.core.Future;
import io.vertx.sqlclient.SqlClient;
import io.vertx.sqlclient.SqlConnection;
import io.vertx.sqlclient.Tuple;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

/**
 * The changes of an invoice's state that an operator asks for, each within the caller's
 * transaction. What the table of transitions does not allow is refused with {@code
 * illegal_transition}.
 */
final class InvoiceChanges {
  private static final String LOCKED =
      """
      SELECT id, customer_id, subscription_id, boundary_index, status, payment_gateway, external_id,
             issue_date, finalise_at
        FROM invoice WHERE merchant_id = $1 AND id = $2
         FOR NO KEY UPDATE
      """;

  private final MerchantClock clock;
  private final TransitionStore transitions = new TransitionStore();
  private final OutboxStore outbox = new OutboxStore();
  private final FreedUsageStore rebills = new FreedUsageStore();
  private final Reversals reversals = new Reversals();

  InvoiceChanges(MerchantClock clock) {
    this.clock = clock;
  }

  private interface Change {
    Future<Void> of(InvoiceOrder order);
  }

  /** Records a payment from outside; the invoice is not charged any more. */
  Future<Void> pay(SqlConnection tx, Call call, String id, String reference) {
    String reason = reference == null ? "payment recorded" : "payment recorded: " + reference;
    return locked(tx, call, id, reason, order -> close(tx, order, InvoiceStatus.PAID));
  }

  Future<Void> writeOff(SqlConnection tx, Call call, String id, String why) {
    return locked(
        tx,
        call,
        id,
        reason("written off", why),
        order -> close(tx, order, InvoiceStatus.UNCOLLECTIBLE));
  }

  /** Frees what the invoice billed of usage, in money and in units, for the next invoice. */
  Future<Void> makeVoid(SqlConnection tx, Call call, String id, String why) {
    return locked(
        tx,
        call,
        id,
        reason("voided", why),
        order ->
            order
                .mustAllow(InvoiceStatus.VOID)
                .compose(legal -> order.mustBeMade())
                .compose(made -> CustomerLocks.lock(tx, Set.of(order.invoice().customerId())))
                .compose(held -> freeUsage(tx, order))
                .compose(done -> close(tx, order, InvoiceStatus.VOID)));
  }

  private static String reason(String what, String why) {
    return why == null ? what : what + ": " + why;
  }

  /** Has it synced that waits for it, or whose sync was given up, or that the gateway has lost. */
  Future<Void> sync(SqlConnection tx, Call call, String id) {
    return locked(
        tx,
        call,
        id,
        "sync requested",
        order ->
            order
                .mustHaveGateway()
                .compose(
                    known ->
                        switch (order.status()) {
                          case READY_TO_SYNC -> Future.succeededFuture();
                          case DELETED_FROM_PAYMENT_GATEWAY ->
                              move(tx, order, InvoiceStatus.READY_TO_SYNC);
                          case PAUSED -> resumeSync(tx, order);
                          default -> order.illegal("synced");
                        })
                .compose(ready -> enqueue(tx, order, DeliveryAction.SYNC)));
  }

  /** One that was final when its sync was given up goes back to where it was. */
  private Future<Void> resumeSync(SqlConnection tx, InvoiceOrder order) {
    if (order.invoice().issueDate() == null) {
      return order.illegal("synced");
    }
    return move(tx, order, InvoiceStatus.PENDING)
        .compose(done -> move(tx, order, InvoiceStatus.PENDING, InvoiceStatus.READY_TO_SYNC));
  }

  /** Has an issued invoice sent again, or one whose sending was given up. */
  Future<Void> send(SqlConnection tx, Call call, String id) {
    return locked(
        tx,
        call,
        id,
        "sending requested",
        order ->
            switch (order.status()) {
              case READY_TO_SEND -> enqueue(tx, order, DeliveryAction.SEND);
              case ISSUED ->
                  order
                      .mustHaveGateway()
                      .compose(known -> order.mustBeSynced())
                      .compose(known -> move(tx, order, InvoiceStatus.SENDING))
                      .compose(done -> enqueue(tx, order, DeliveryAction.SEND));
              default -> order.illegal("sent");
            });
  }

  /** Has the charge tried again that failed. */
  Future<Void> collect(SqlConnection tx, Call call, String id) {
    return locked(
        tx,
        call,
        id,
        "collection requested",
        order ->
            switch (order.status()) {
              case READY_TO_COLLECT -> enqueue(tx, order, DeliveryAction.COLLECT);
              case PAYMENT_FAILED ->
                  order
                      .mustBeSynced()
                      .compose(known -> move(tx, order, InvoiceStatus.READY_TO_COLLECT))
                      .compose(done -> enqueue(tx, order, DeliveryAction.COLLECT));
              default -> order.illegal("collected");
            });
  }

  private static Future<Head> find(SqlClient tx, Call call, String id) {
    return tx.preparedQuery(LOCKED)
        .execute(Tuple.of(call.merchantId(), Sql.uuid(IdKind.INVOICE, id)))
        .compose(
            rows ->
                rows.size() == 0
                    ? FailureException.failed(Failure.notFound("invoice"))
                    : Future.succeededFuture(Head.of(rows.iterator().next())));
  }

  private Future<Void> locked(
      SqlConnection tx, Call call, String id, String reason, Change change) {
    return find(tx, call, id)
        .compose(
            head ->
                clock
                    .now(tx, call)
                    .compose(now -> change.of(new InvoiceOrder(call, head, now, reason))));
  }

  private Future<Void> freeUsage(SqlConnection tx, InvoiceOrder order) {
    Head invoice = order.invoice();
    return rebills
        .billedPeriods(tx, order.merchantId(), invoice.id())
        .compose(
            billed ->
                reversals
                    .redrawnFor(tx, order.merchantId(), invoice.subscriptionId(), invoice.id())
                    .compose(redrawn -> free(tx, order, billed, redrawn)));
  }

  private Future<Void> free(
      SqlConnection tx, InvoiceOrder order, List<Integer> billed, Set<Integer> redrawn) {
    Head invoice = order.invoice();
    Set<Integer> periods = new TreeSet<>(billed);
    periods.addAll(redrawn);
    return rebills
        .rebillUsage(
            tx, order.merchantId(), invoice.subscriptionId(), List.copyOf(periods), order.now())
        .compose(
            done ->
                reversals.release(
                    tx,
                    order.merchantId(),
                    drawnFor(invoice, periods, redrawn),
                    invoice.id(),
                    order.now()));
  }

  // What it only corrects has drawn for an invoice of before, which may stand; but not what it has
  // taken over from a void one, and so has drawn again.
  private static List<PeriodKey> drawnFor(
      Head invoice, Set<Integer> periods, Set<Integer> redrawn) {
    int closed = invoice.boundaryIndex() - 1;
    Id subscription = new Id(IdKind.SUBSCRIPTION, invoice.subscriptionId());
    return periods.stream()
        .filter(period -> period == closed || redrawn.contains(period))
        .map(period -> new PeriodKey(subscription, period))
        .toList();
  }

  /** The last change by an operator: nothing is to be done at the gateway any more. */
  private Future<Void> close(SqlConnection tx, InvoiceOrder order, InvoiceStatus to) {
    return order
        .mustAllow(to)
        .compose(legal -> outbox.cancel(tx, order.merchantId(), order.invoice().id()))
        .compose(done -> move(tx, order, to));
  }

  private Future<Void> move(SqlConnection tx, InvoiceOrder order, InvoiceStatus to) {
    return move(tx, order, order.status(), to);
  }

  private Future<Void> move(
      SqlConnection tx, InvoiceOrder order, InvoiceStatus from, InvoiceStatus to) {
    Cause cause =
        new Cause(Actor.OPERATOR, order.reason(), order.call().requestId(), clock.systemNow());
    InvoiceChange change = new InvoiceChange(order.invoice().id(), from, to, order.now());
    return transitions.moveInvoices(tx, order.merchantId(), List.of(change), cause).mapEmpty();
  }

  private Future<Void> enqueue(SqlConnection tx, InvoiceOrder order, DeliveryAction action) {
    return outbox.enqueue(
        tx,
        order.merchantId(),
        List.of(new OutboxStore.Entry(order.invoice().id(), action)),
        clock.systemNow());
  }
}

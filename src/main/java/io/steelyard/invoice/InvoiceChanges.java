package io.steelyard.invoice;

import io.steelyard.bus.Call;
import io.steelyard.bus.Failure;
import io.steelyard.bus.FailureException;
import io.steelyard.credit.Reversals;
import io.steelyard.db.CustomerLocks;
import io.steelyard.db.Sql;
import io.steelyard.domain.Actor;
import io.steelyard.domain.DeliveryAction;
import io.steelyard.domain.IdKind;
import io.steelyard.domain.InvoiceStatus;
import io.steelyard.domain.InvoiceTransitions;
import io.steelyard.domain.PaymentGateway;
import io.steelyard.domain.WireName;
import io.steelyard.invoice.TransitionStore.Cause;
import io.steelyard.invoice.TransitionStore.InvoiceChange;
import io.steelyard.merchant.MerchantClock;
import io.vertx.core.Future;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.SqlClient;
import io.vertx.sqlclient.SqlConnection;
import io.vertx.sqlclient.Tuple;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;

/**
 * The changes of an invoice's state that an operator asks for, each within the caller's
 * transaction. What the table of transitions does not allow is refused with {@code
 * illegal_transition}.
 */
final class InvoiceChanges {
  private static final String HEAD =
      """
      SELECT id, customer_id, subscription_id, status, payment_gateway, external_id, issue_date,
             finalise_at
        FROM invoice WHERE merchant_id = $1 AND id = $2
      """;

  private static final String LOCKED_HEAD = HEAD + " FOR NO KEY UPDATE";

  private final MerchantClock clock;
  private final TransitionStore transitions = new TransitionStore();
  private final OutboxStore outbox = new OutboxStore();
  private final FreedUsageStore rebills = new FreedUsageStore();
  private final Reversals reversals = new Reversals();

  InvoiceChanges(MerchantClock clock) {
    this.clock = clock;
  }

  private record Head(
      UUID id,
      UUID customerId,
      UUID subscriptionId,
      InvoiceStatus status,
      PaymentGateway gateway,
      String externalId,
      Instant issueDate,
      Instant finaliseAt) {
    static Head of(Row row) {
      return new Head(
          row.getUUID("id"),
          row.getUUID("customer_id"),
          row.getUUID("subscription_id"),
          WireName.parse(InvoiceStatus.class, row.getString("status")),
          WireName.parseNullable(PaymentGateway.class, row.getString("payment_gateway")),
          row.getString("external_id"),
          Sql.instant(row, "issue_date"),
          Sql.instant(row, "finalise_at"));
    }
  }

  /** One operator's change: whose invoice, asked how, by the merchant's clock when, and why. */
  private record Order(Call call, Head invoice, Instant now, String reason) {
    UUID merchantId() {
      return call.merchantId();
    }

    InvoiceStatus status() {
      return invoice.status();
    }
  }

  private interface Change {
    Future<Void> of(Order order);
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
            mustAllow(order, InvoiceStatus.VOID)
                .compose(legal -> mustBeMade(order))
                .compose(made -> CustomerLocks.lock(tx, Set.of(order.invoice().customerId())))
                .compose(held -> freeUsage(tx, order))
                .compose(done -> close(tx, order, InvoiceStatus.VOID)));
  }

  /** One that only stands for what could not be made keeps its place until it is made. */
  private static Future<Void> mustBeMade(Order order) {
    return order.status() == InvoiceStatus.PAUSED
            && order.invoice().issueDate() == null
            && order.invoice().finaliseAt() == null
        ? FailureException.failed(
            new Failure.Conflict(
                "illegal_transition",
                "The invoice is paused since it cannot be made: resume its subscription first."))
        : Future.succeededFuture();
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
            mustHaveGateway(order)
                .compose(
                    known ->
                        switch (order.status()) {
                          case READY_TO_SYNC -> Future.succeededFuture();
                          case DELETED_FROM_PAYMENT_GATEWAY ->
                              move(tx, order, InvoiceStatus.READY_TO_SYNC);
                          case PAUSED -> resumeSync(tx, order);
                          default -> illegal(order, "synced");
                        })
                .compose(ready -> enqueue(tx, order, DeliveryAction.SYNC)));
  }

  /** One that was final when its sync was given up goes back to where it was. */
  private Future<Void> resumeSync(SqlConnection tx, Order order) {
    if (order.invoice().issueDate() == null) {
      return illegal(order, "synced");
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
                  mustHaveGateway(order)
                      .compose(known -> mustBeSynced(order))
                      .compose(known -> move(tx, order, InvoiceStatus.SENDING))
                      .compose(done -> enqueue(tx, order, DeliveryAction.SEND));
              default -> illegal(order, "sent");
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
                  mustBeSynced(order)
                      .compose(known -> move(tx, order, InvoiceStatus.READY_TO_COLLECT))
                      .compose(done -> enqueue(tx, order, DeliveryAction.COLLECT));
              default -> illegal(order, "collected");
            });
  }

  private static Future<Head> find(SqlClient tx, Call call, String id, String sql) {
    return tx.preparedQuery(sql)
        .execute(Tuple.of(call.merchantId(), Sql.uuid(IdKind.INVOICE, id)))
        .compose(
            rows ->
                rows.size() == 0
                    ? FailureException.failed(Failure.notFound("invoice"))
                    : Future.succeededFuture(Head.of(rows.iterator().next())));
  }

  private Future<Void> locked(
      SqlConnection tx, Call call, String id, String reason, Change change) {
    return find(tx, call, id, LOCKED_HEAD)
        .compose(
            head ->
                clock.now(tx, call).compose(now -> change.of(new Order(call, head, now, reason))));
  }

  private Future<Void> freeUsage(SqlConnection tx, Order order) {
    Head invoice = order.invoice();
    return rebills
        .billedPeriods(tx, order.merchantId(), invoice.id())
        .compose(
            periods ->
                rebills
                    .rebillUsage(
                        tx, order.merchantId(), invoice.subscriptionId(), periods, order.now())
                    .compose(
                        done ->
                            reversals.release(
                                tx,
                                order.merchantId(),
                                periods.stream()
                                    .map(
                                        index ->
                                            new Reversals.Period(invoice.subscriptionId(), index))
                                    .toList(),
                                invoice.id(),
                                order.now())));
  }

  /** The last change by an operator: nothing is to be done at the gateway any more. */
  private Future<Void> close(SqlConnection tx, Order order, InvoiceStatus to) {
    return mustAllow(order, to)
        .compose(legal -> outbox.cancel(tx, order.merchantId(), order.invoice().id()))
        .compose(done -> move(tx, order, to));
  }

  private Future<Void> move(SqlConnection tx, Order order, InvoiceStatus to) {
    return move(tx, order, order.status(), to);
  }

  private Future<Void> move(SqlConnection tx, Order order, InvoiceStatus from, InvoiceStatus to) {
    Cause cause =
        new Cause(Actor.OPERATOR, order.reason(), order.call().requestId(), clock.systemNow());
    InvoiceChange change = new InvoiceChange(order.invoice().id(), from, to, order.now());
    return transitions.moveInvoices(tx, order.merchantId(), List.of(change), cause).mapEmpty();
  }

  private Future<Void> enqueue(SqlConnection tx, Order order, DeliveryAction action) {
    return outbox.enqueue(
        tx,
        order.merchantId(),
        List.of(new OutboxStore.Entry(order.invoice().id(), action)),
        clock.systemNow());
  }

  private static Future<Void> mustHaveGateway(Order order) {
    return order.invoice().gateway() != null
        ? Future.succeededFuture()
        : FailureException.failed(
            new Failure.Rejected("no_payment_gateway", "The invoice has no payment gateway."));
  }

  private static Future<Void> mustBeSynced(Order order) {
    return order.invoice().externalId() != null
        ? Future.succeededFuture()
        : FailureException.failed(
            new Failure.Rejected("not_synced", "The payment gateway does not know the invoice."));
  }

  private static Future<Void> mustAllow(Order order, InvoiceStatus to) {
    return !InvoiceTransitions.inGatewaysHands(order.status())
            && InvoiceTransitions.allows(order.status(), to)
        ? Future.succeededFuture()
        : illegal(order, to.wire());
  }

  private static Future<Void> illegal(Order order, String wanted) {
    InvoiceStatus status = order.status();
    return FailureException.failed(
        new Failure.Conflict(
            "illegal_transition",
            "The invoice is %s and cannot become or be %s. %s"
                .formatted(status.wire(), wanted, allowed(status))));
  }

  private static String allowed(InvoiceStatus status) {
    String next =
        InvoiceTransitions.from(status).stream()
            .map(InvoiceStatus::wire)
            .collect(Collectors.joining(", "));
    if (next.isEmpty()) {
      return "Nothing follows " + status.wire() + ".";
    }
    return InvoiceTransitions.inGatewaysHands(status)
        ? "The gateway's answer leads on to one of: " + next + "."
        : "Allowed from " + status.wire() + ": " + next + ".";
  }
}

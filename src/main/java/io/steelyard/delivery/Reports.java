package io.steelyard.delivery;

import io.steelyard.bus.Call;
import io.steelyard.bus.Failure;
import io.steelyard.bus.FailureException;
import io.steelyard.delivery.DeliveryMessages.PaymentReported;
import io.steelyard.delivery.DeliveryMessages.ReportPayment;
import io.steelyard.domain.Actor;
import io.steelyard.domain.InvoiceStatus;
import io.steelyard.domain.InvoiceTransitions;
import io.steelyard.invoice.OutboxStore;
import io.steelyard.invoice.TransitionStore;
import io.steelyard.invoice.TransitionStore.Cause;
import io.steelyard.invoice.TransitionStore.InvoiceChange;
import io.steelyard.merchant.MerchantClock;
import io.vertx.core.Future;
import io.vertx.sqlclient.SqlConnection;
import java.util.List;

/** Takes a gateway's word on payments that it was not asked about. */
final class Reports {
  private final MerchantClock clock;
  private final OutboxStore outbox = new OutboxStore();
  private final TransitionStore transitions = new TransitionStore();

  Reports(MerchantClock clock) {
    this.clock = clock;
  }

  Future<PaymentReported> take(SqlConnection tx, Call call, ReportPayment report) {
    InvoiceStatus to = report.outcome().status();
    return outbox
        .lockInvoice(tx, call.merchantId(), report.invoiceId().uuid())
        .compose(
            status -> {
              if (status.isEmpty()) {
                return FailureException.failed(Failure.notFound("invoice"));
              }
              if (status.get() == to) {
                return Future.succeededFuture();
              }
              return InvoiceTransitions.allows(status.get(), to)
                  ? move(tx, call, report, status.get(), to)
                  : refused(status.get(), to);
            })
        .map(done -> new PaymentReported(to));
  }

  /** Nothing is to be done any more about what the gateway has told. */
  private Future<Void> move(
      SqlConnection tx, Call call, ReportPayment report, InvoiceStatus from, InvoiceStatus to) {
    return clock
        .now(tx, call)
        .compose(
            now ->
                transitions.moveInvoices(
                    tx,
                    call.merchantId(),
                    List.of(new InvoiceChange(report.invoiceId().uuid(), from, to, now)),
                    new Cause(
                        Actor.GATEWAY,
                        "reported: " + report.outcome().wire(),
                        call.requestId(),
                        clock.systemNow())))
        .compose(moved -> outbox.cancel(tx, call.merchantId(), report.invoiceId().uuid()));
  }

  private static Future<Void> refused(InvoiceStatus status, InvoiceStatus to) {
    return FailureException.failed(
        new Failure.Conflict(
            "illegal_transition",
            "The invoice is %s and cannot become %s.".formatted(status.wire(), to.wire())));
  }
}

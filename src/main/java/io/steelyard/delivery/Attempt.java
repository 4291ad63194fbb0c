package io.steelyard.delivery;

import io.steelyard.bus.Bus;
import io.steelyard.bus.Call;
import io.steelyard.bus.Failure;
import io.steelyard.bus.FailureException;
import io.steelyard.db.SqlFailures;
import io.steelyard.domain.Currency;
import io.steelyard.domain.DeliveryAction;
import io.steelyard.domain.PaymentGateway;
import io.steelyard.gateway.GatewayMessages.CollectDocument;
import io.steelyard.gateway.GatewayMessages.Document;
import io.steelyard.gateway.GatewayMessages.DocumentLine;
import io.steelyard.gateway.GatewayMessages.FindDocument;
import io.steelyard.gateway.GatewayMessages.SendDocument;
import io.steelyard.gateway.GatewayMessages.SyncDocument;
import io.steelyard.invoice.InvoiceMessages.InvoiceView;
import io.steelyard.invoice.InvoiceStore;
import io.steelyard.invoice.OutboxStore.Due;
import io.vertx.core.Future;
import io.vertx.sqlclient.Pool;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Asks a gateway to do one thing with one invoice, and never fails. */
final class Attempt {
  private static final Logger LOG = LoggerFactory.getLogger(Attempt.class);

  private final Pool pool;
  private final Bus bus;
  private final InvoiceStore invoices = new InvoiceStore();

  Attempt(Pool pool, Bus bus) {
    this.pool = pool;
    this.bus = bus;
  }

  Future<Outcome> at(Due due, Call call) {
    return ask(due, call).recover(error -> Future.succeededFuture(outcome(due, error)));
  }

  private Future<Outcome> ask(Due due, Call call) {
    return switch (due.action()) {
      case SYNC -> sync(due, call);
      case COLLECT -> lookThenCollect(due, call);
      case SEND ->
          bus.ask(new SendDocument(due.gateway(), due.externalId(), due.idempotencyKey()), call)
              .map(sent -> new Outcome.Sent(sent.repeated()));
    };
  }

  private Future<Outcome> sync(Due due, Call call) {
    return invoices
        .findWhole(pool, call.merchantId(), due.invoiceId())
        .map(Optional::orElseThrow)
        .compose(
            invoice ->
                bus.ask(
                    new SyncDocument(due.gateway(), document(invoice), due.idempotencyKey()), call))
        .map(synced -> new Outcome.Synced(synced.externalId(), synced.repeated()));
  }

  private static Document document(InvoiceView invoice) {
    return new Document(
        invoice.id(),
        invoice.vanityId(),
        invoice.customerId(),
        Currency.USD.wire(),
        invoice.total(),
        invoice.dueDate(),
        isCharged(invoice.paymentGateway(), invoice),
        invoice.invoiceLineItems().stream()
            .map(line -> new DocumentLine(line.description(), line.amount()))
            .toList());
  }

  private static boolean isCharged(PaymentGateway gateway, InvoiceView invoice) {
    return DeliveryAction.afterSync(gateway, invoice.autoSendInvoice(), invoice.autoChargeInvoice())
        .filter(next -> next == DeliveryAction.COLLECT)
        .isPresent();
  }

  /** A customer may have paid at the gateway, or an attempt may have charged and never known. */
  private Future<Outcome> lookThenCollect(Due due, Call call) {
    return bus.ask(new FindDocument(due.gateway(), due.externalId()), call)
        .compose(
            found ->
                switch (found.state()) {
                  case PAID -> Future.succeededFuture(new Outcome.PaidBefore());
                  case DELETED -> Future.succeededFuture(new Outcome.Lost());
                  case OPEN -> collect(due, call);
                });
  }

  private Future<Outcome> collect(Due due, Call call) {
    return bus.ask(new CollectDocument(due.gateway(), due.externalId(), due.idempotencyKey()), call)
        .map(
            collected ->
                new Outcome.Collected(
                    collected.outcome(), collected.detail(), collected.repeated()));
  }

  private static Outcome outcome(Due due, Throwable error) {
    if (!(error instanceof FailureException)) {
      LOG.error("{} {} failed", due.action().wire(), due.idempotencyKey(), error);
    }
    Failure failure = SqlFailures.of(error);
    return switch (failure) {
      case Failure.Rejected refused ->
          new Outcome.Refused(refused.detail(), refused.code().equals("gateway_refused"));
      case Failure.NotFound missing ->
          missing.code().equals("document_not_found")
              ? new Outcome.Lost()
              : new Outcome.Refused(missing.detail(), false);
      case Failure.Invalid invalid -> new Outcome.Refused(invalid.detail(), false);
      case Failure.Gone gone -> new Outcome.Refused(gone.detail(), false);
      case Failure.Conflict conflict -> new Outcome.Unanswered(conflict.detail());
      case Failure.Overloaded overloaded -> new Outcome.Unanswered(overloaded.detail());
      case Failure.Unavailable unavailable -> new Outcome.Unanswered(unavailable.detail());
      case Failure.TimedOut late -> new Outcome.Unanswered("The gateway did not answer in time.");
      case Failure.Unexpected fault -> new Outcome.Unanswered("An unexpected error occurred.");
    };
  }
}

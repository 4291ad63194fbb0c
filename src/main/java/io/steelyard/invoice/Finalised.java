package io.steelyard.invoice;

import io.steelyard.db.Transactions;
import io.steelyard.domain.Actor;
import io.steelyard.domain.DeliveryAction;
import io.steelyard.domain.Id;
import io.steelyard.domain.InvoiceStatus;
import io.steelyard.invoice.DraftStore.NewInvoice;
import io.steelyard.invoice.TransitionStore.Cause;
import io.steelyard.invoice.TransitionStore.InvoiceChange;
import io.vertx.core.Future;
import io.vertx.sqlclient.SqlClient;
import java.time.Instant;
import java.util.List;
import java.util.UUID;

/** What an invoice's becoming final brings with it, in the transaction that makes it so. */
public final class Finalised {
  private final TransitionStore transitions = new TransitionStore();
  private final OutboxStore outbox = new OutboxStore();

  /**
   * An invoice that the caller has just made final.
   *
   * @param status what it has become of a pending one
   * @param automatic whether it goes to its gateway by itself
   * @param at by the merchant's clock
   */
  public record FinalInvoice(Id id, InvoiceStatus status, boolean automatic, Instant at) {
    /** One that was final when it was inserted. */
    public static FinalInvoice of(NewInvoice invoice) {
      return new FinalInvoice(
          invoice.id(),
          invoice.status(),
          DeliveryAction.isAutomatic(invoice.autoSync(), invoice.autoSend(), invoice.autoCharge()),
          invoice.at());
    }
  }

  /** Records the changes, and has those synced that go to their gateways by themselves. */
  public Future<Void> finalised(
      SqlClient tx, UUID merchantId, List<FinalInvoice> invoices, Instant systemNow) {
    List<InvoiceChange> changes =
        invoices.stream()
            .map(
                each ->
                    new InvoiceChange(
                        each.id().uuid(), InvoiceStatus.PENDING, each.status(), each.at()))
            .toList();
    List<OutboxStore.Entry> entries =
        invoices.stream()
            .filter(each -> each.status() == InvoiceStatus.READY_TO_SYNC && each.automatic())
            .map(each -> new OutboxStore.Entry(each.id().uuid(), DeliveryAction.SYNC))
            .toList();
    return Transactions.pipelined(
        () ->
            transitions.recordInvoices(
                tx, merchantId, changes, new Cause(Actor.BILLING, "finalised", null, systemNow)),
        () -> outbox.enqueue(tx, merchantId, entries, systemNow));
  }
}

package io.steelyard.invoice;

import io.steelyard.bus.Call;
import io.steelyard.bus.Failure;
import io.steelyard.bus.FailureException;
import io.steelyard.db.Sql;
import io.steelyard.domain.InvoiceStatus;
import io.steelyard.domain.InvoiceTransitions;
import io.steelyard.domain.PaymentGateway;
import io.steelyard.domain.WireName;
import io.vertx.core.Future;
import io.vertx.sqlclient.Row;
import java.time.Instant;
import java.util.UUID;
import java.util.stream.Collectors;

/**
 * A change of an invoice's state that an operator asks for, and whether it may be. What may not is
 * refused in the Future.
 *
 * @param invoice whose row is locked
 * @param now by the merchant's clock
 */
record InvoiceOrder(Call call, Head invoice, Instant now, String reason) {
  record Head(
      UUID id,
      UUID customerId,
      UUID subscriptionId,
      int boundaryIndex,
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
          row.getInteger("boundary_index"),
          WireName.parse(InvoiceStatus.class, row.getString("status")),
          WireName.parseNullable(PaymentGateway.class, row.getString("payment_gateway")),
          row.getString("external_id"),
          Sql.instant(row, "issue_date"),
          Sql.instant(row, "finalise_at"));
    }
  }

  UUID merchantId() {
    return call.merchantId();
  }

  InvoiceStatus status() {
    return invoice.status();
  }

  /** One that only stands for what could not be made keeps its place until it is made. */
  Future<Void> mustBeMade() {
    return status() == InvoiceStatus.PAUSED
            && invoice.issueDate() == null
            && invoice.finaliseAt() == null
        ? FailureException.failed(
            new Failure.Conflict(
                "illegal_transition",
                "The invoice is paused since it cannot be made: resume its subscription first."))
        : Future.succeededFuture();
  }

  Future<Void> mustHaveGateway() {
    return invoice.gateway() != null
        ? Future.succeededFuture()
        : FailureException.failed(
            new Failure.Rejected("no_payment_gateway", "The invoice has no payment gateway."));
  }

  Future<Void> mustBeSynced() {
    return invoice.externalId() != null
        ? Future.succeededFuture()
        : FailureException.failed(
            new Failure.Rejected("not_synced", "The payment gateway does not know the invoice."));
  }

  Future<Void> mustAllow(InvoiceStatus to) {
    return InvoiceTransitions.allowsOperator(status(), to)
        ? Future.succeededFuture()
        : illegal(to.wire());
  }

  Future<Void> illegal(String wanted) {
    return FailureException.failed(
        new Failure.Conflict(
            "illegal_transition",
            "The invoice is %s and cannot become or be %s. %s"
                .formatted(status().wire(), wanted, allowed(status()))));
  }

  private static String allowed(InvoiceStatus status) {
    String next =
        InvoiceTransitions.from(status).stream()
            .map(InvoiceStatus::wire)
            .collect(Collectors.joining(", "));
    if (next.isEmpty()) {
      return "Nothing follows " + status.wire() + ".";
    }
    if (status == InvoiceStatus.PENDING) {
      return "It is not final yet: billing leads on to one of: " + next + ".";
    }
    return InvoiceTransitions.inGatewaysHands(status)
        ? "The gateway's answer leads on to one of: " + next + "."
        : "Allowed from " + status.wire() + ": " + next + ".";
  }
}

package io.steelyard.subscription;

import io.steelyard.db.Sql;
import io.steelyard.domain.BillingCadence;
import io.steelyard.domain.Currency;
import io.steelyard.domain.Id;
import io.steelyard.domain.IdKind;
import io.steelyard.domain.NetTerms;
import io.steelyard.domain.PaymentGateway;
import io.steelyard.domain.SubscriptionStatus;
import io.steelyard.domain.WireName;
import io.steelyard.subscription.SubscriptionMessages.SubscriptionView;
import io.vertx.sqlclient.Row;
import java.util.UUID;

/** Reads subscriptions out of rows of their table. */
public final class SubscriptionRows {
  public static final String COLUMNS =
      """
      id, customer_id, plan_id, status, start_date, end_date, trial_end, billing_cadence, currency,
      net_terms, payment_gateway, allow_customer_changes, auto_charge_invoice, auto_sync_invoice,
      auto_send_invoice, is_trial, charge_usage_during_trial, invoice_generation_start_date, due_at,
      period_index, created_at, updated_at
      """;

  private SubscriptionRows() {}

  /** A row of {@link #COLUMNS}. */
  public static Subscription subscription(Row row, UUID merchantId) {
    SubscriptionView view =
        new SubscriptionView(
            Sql.id(row, "id", IdKind.SUBSCRIPTION),
            Sql.id(row, "customer_id", IdKind.CUSTOMER),
            Sql.id(row, "plan_id", IdKind.PLAN),
            new Id(IdKind.MERCHANT, merchantId),
            WireName.parse(SubscriptionStatus.class, row.getString("status")),
            Sql.instant(row, "start_date"),
            Sql.instant(row, "end_date"),
            WireName.parse(BillingCadence.class, row.getString("billing_cadence")),
            WireName.parse(Currency.class, row.getString("currency")),
            WireName.parseNullable(NetTerms.class, row.getString("net_terms")),
            WireName.parseNullable(PaymentGateway.class, row.getString("payment_gateway")),
            row.getBoolean("allow_customer_changes"),
            row.getBoolean("auto_charge_invoice"),
            row.getBoolean("auto_sync_invoice"),
            row.getBoolean("auto_send_invoice"),
            row.getBoolean("is_trial"),
            row.getBoolean("charge_usage_during_trial"),
            Sql.instant(row, "created_at"),
            Sql.instant(row, "updated_at"),
            null);
    return new Subscription(
        view,
        Sql.instant(row, "trial_end"),
        Sql.instant(row, "invoice_generation_start_date"),
        Sql.instant(row, "due_at"),
        row.getInteger("period_index"));
  }
}

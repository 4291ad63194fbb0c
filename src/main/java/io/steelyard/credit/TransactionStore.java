package io.steelyard.credit;

import io.steelyard.credit.CreditMessages.BillableRef;
import io.steelyard.credit.CreditMessages.BlockRef;
import io.steelyard.credit.CreditMessages.InvoiceRef;
import io.steelyard.credit.CreditMessages.PlanRef;
import io.steelyard.credit.CreditMessages.SubscriptionRef;
import io.steelyard.credit.CreditMessages.TransactionView;
import io.steelyard.credit.CreditMessages.UnitRef;
import io.steelyard.db.Sql;
import io.steelyard.domain.BillingCadence;
import io.steelyard.domain.Id;
import io.steelyard.domain.IdKind;
import io.steelyard.domain.Paging;
import io.steelyard.domain.TransactionType;
import io.steelyard.domain.WireName;
import io.vertx.core.Future;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.SqlClient;
import io.vertx.sqlclient.Tuple;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/** The append-only ledger of a customer's units, as it is listed. */
final class TransactionStore {
  private static final String COUNT =
      "SELECT count(*) FROM credit_transaction WHERE merchant_id = $1 AND customer_id = $2";

  private static final String PAGE =
      """
      SELECT t.id, t.type, t.amount, t.allocation_block_id, t.billable_id, t.event_key,
             t.operation_id, t.created_at, b.name AS billable_name, k.amount AS block_amount,
             k.custom_pricing_unit_id, u.display_name, k.invoice_id, i.vanity_id,
             s.billing_cadence, p.name AS plan_name
        FROM credit_transaction t
        JOIN allocation_block k ON k.merchant_id = $1 AND k.id = t.allocation_block_id
        JOIN custom_pricing_unit u ON u.merchant_id = $1 AND u.id = k.custom_pricing_unit_id
        LEFT JOIN billable b ON b.merchant_id = $1 AND b.id = t.billable_id
        LEFT JOIN invoice i ON i.merchant_id = $1 AND i.id = k.invoice_id
        LEFT JOIN subscription s ON s.merchant_id = $1 AND s.id = k.subscription_id
        LEFT JOIN plan p ON p.merchant_id = $1 AND p.id = s.plan_id
       WHERE t.merchant_id = $1 AND t.customer_id = $2
       ORDER BY t.created_at %1$s, t.id %1$s
       LIMIT $3 OFFSET $4
      """;
  private static final String PAGE_ASC = PAGE.formatted("ASC");
  private static final String PAGE_DESC = PAGE.formatted("DESC");

  Future<Long> count(SqlClient client, UUID merchantId, Id customerId) {
    return client
        .preparedQuery(COUNT)
        .execute(Tuple.of(merchantId, customerId.uuid()))
        .map(rows -> rows.iterator().next().getLong(0));
  }

  Future<List<TransactionView>> page(
      SqlClient client, UUID merchantId, Id customerId, Paging paging) {
    return client
        .preparedQuery(paging.ascending() ? PAGE_ASC : PAGE_DESC)
        .execute(Tuple.of(merchantId, customerId.uuid(), paging.pageSize(), paging.offset()))
        .map(
            rows -> {
              List<TransactionView> page = new ArrayList<>(rows.size());
              rows.forEach(row -> page.add(transaction(row, merchantId)));
              return page;
            });
  }

  private static TransactionView transaction(Row row, UUID merchantId) {
    Id billableId = Sql.id(row, "billable_id", IdKind.BILLABLE);
    Instant createdAt = Sql.instant(row, "created_at");
    return new TransactionView(
        Sql.id(row, "id", IdKind.TRANSACTION),
        new Id(IdKind.MERCHANT, merchantId),
        WireName.parse(TransactionType.class, row.getString("type")),
        row.getBigDecimal("amount"),
        Sql.id(row, "allocation_block_id", IdKind.ALLOCATION_BLOCK),
        billableId,
        Sql.id(row, "event_key", IdKind.EVENT),
        Sql.id(row, "operation_id", IdKind.OPERATION),
        billableId == null ? null : new BillableRef(billableId, row.getString("billable_name")),
        block(row),
        createdAt,
        createdAt);
  }

  private static BlockRef block(Row row) {
    Optional<Id> invoice = Optional.ofNullable(Sql.id(row, "invoice_id", IdKind.INVOICE));
    Optional<String> plan = Optional.ofNullable(row.getString("plan_name"));
    return new BlockRef(
        Sql.id(row, "allocation_block_id", IdKind.ALLOCATION_BLOCK),
        row.getBigDecimal("block_amount"),
        Sql.id(row, "custom_pricing_unit_id", IdKind.CUSTOM_PRICING_UNIT),
        new UnitRef(row.getString("display_name")),
        invoice.map(id -> new InvoiceRef(id, row.getLong("vanity_id"))).orElse(null),
        plan.map(
                name ->
                    new SubscriptionRef(
                        WireName.parse(BillingCadence.class, row.getString("billing_cadence")),
                        new PlanRef(name)))
            .orElse(null));
  }
}

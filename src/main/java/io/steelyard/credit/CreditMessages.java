package io.steelyard.credit;

import io.steelyard.bus.Address;
import io.steelyard.bus.Reply;
import io.steelyard.bus.Request;
import io.steelyard.domain.BillingCadence;
import io.steelyard.domain.Id;
import io.steelyard.domain.Paging;
import io.steelyard.domain.TransactionType;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.List;

/** What the credit verticle may be asked: balances of custom pricing units and their ledger. */
public sealed interface CreditMessages<R extends Reply> extends Request<R> {
  @Override
  default Address address() {
    return Address.CREDIT;
  }

  record ListTransactions(String externalCustomerId, Paging paging)
      implements CreditMessages<TransactionPage> {}

  /** Allocated, used and remaining units of the customer's current billing period. */
  record GetUnitUsage(String externalCustomerId, String customPricingUnitId)
      implements CreditMessages<UnitUsageView> {}

  /**
   * A manual allocation.
   *
   * @param expiresAt exclusive; null for never
   */
  record Allocate(
      String customerId, String customPricingUnitId, BigDecimal amount, Instant expiresAt)
      implements CreditMessages<Allocated> {}

  record TransactionPage(List<TransactionView> results, long count, long pages, long currentPage)
      implements Reply {}

  /**
   * @param amount in units, signed: allocations positive, usage negative
   */
  record TransactionView(
      Id id,
      Id merchantId,
      TransactionType type,
      BigDecimal amount,
      Id allocationBlockId,
      Id billableId,
      Id eventId,
      Id operationId,
      BillableRef billable,
      BlockRef allocationBlock,
      Instant createdAt,
      Instant updatedAt) {}

  record BillableRef(Id id, String name) {}

  record BlockRef(
      Id id,
      BigDecimal amount,
      Id customPricingUnitId,
      UnitRef customPricingUnit,
      InvoiceRef invoice,
      SubscriptionRef subscription) {}

  record UnitRef(String displayName) {}

  record InvoiceRef(Id id, long vanityId) {}

  record SubscriptionRef(BillingCadence billingCadence, PlanRef plan) {}

  record PlanRef(String name) {}

  record UnitUsageView(
      Id customPricingUnitId,
      String displayName,
      String displayNameSingular,
      String shortName,
      BigDecimal totalAllocated,
      BigDecimal totalUsed,
      BigDecimal remaining,
      NextExpiring nextExpiring)
      implements Reply {}

  record NextExpiring(BigDecimal amountRemaining, Instant expiration) {}

  record Allocated(
      Id id,
      Id customerId,
      Id customPricingUnitId,
      BigDecimal amount,
      BigDecimal remaining,
      Instant effectiveAt,
      Instant expiresAt)
      implements Reply {}
}

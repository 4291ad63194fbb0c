package io.steelyard.subscription;

import io.steelyard.credit.CreditStore.BlockTerm;
import io.steelyard.credit.CreditStore.NewBlock;
import io.steelyard.db.Ids;
import io.steelyard.domain.AllocationSchedule;
import io.steelyard.domain.AllocationSchedule.Slice;
import io.steelyard.domain.AllocationTerms;
import io.steelyard.domain.BillingPeriod;
import io.steelyard.domain.Id;
import io.steelyard.domain.IdKind;
import io.steelyard.domain.PlanTerms;
import io.steelyard.domain.TransactionType;
import java.time.Instant;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/**
 * The units that a subscription's plan allocates, by the terms of one period.
 *
 * @param pricedAt when that period opened by the system's time
 */
public record Allocations(
    Subscription subscription, PlanTerms plan, Instant pricedAt, ZoneId zone) {

  /** The blocks whose time begins exactly at {@code at}. */
  public List<NewBlock> blocks(Instant at, int periodIndex, Id invoiceId) {
    List<NewBlock> blocks = new ArrayList<>();
    for (AllocationTerms terms : plan.allocationsAt(pricedAt)) {
      for (Slice slice : schedule(terms).startingIn(at, at.plusMillis(1))) {
        blocks.add(block(terms, slice, periodIndex, invoiceId));
      }
    }
    return blocks;
  }

  private NewBlock block(AllocationTerms terms, Slice slice, int periodIndex, Id invoiceId) {
    Id id = subscription.id();
    return new NewBlock(
        Ids.next(IdKind.ALLOCATION_BLOCK),
        subscription.view().customerId(),
        terms.customPricingUnitId(),
        id,
        periodIndex,
        invoiceId,
        terms.amount(),
        slice.start(),
        slice.end(),
        terms.rolloverMax(),
        TransactionType.PLAN_ALLOCATION,
        "alloc:" + id + ":" + terms.customPricingUnitId() + ":" + slice.start());
  }

  /** When the clockwork must act next: at the period's end, or for units allocated before it. */
  public Instant nextDue(Instant after, BillingPeriod period) {
    Instant end = period.end().equals(BillingPeriod.END_OF_TIME) ? null : period.end();
    return plan.allocationsAt(pricedAt).stream()
        .map(terms -> schedule(terms).nextStartAfter(after))
        .flatMap(Optional::stream)
        .filter(start -> end == null || start.isBefore(end))
        .min(Instant::compareTo)
        .orElse(end);
  }

  /**
   * When a block of this subscription's expires that an end date had cut short: by the terms of the
   * period it was allocated in, since the plan may allocate other units by now, or none.
   */
  public BlockTerm naturalEnd(BlockTerm cut) {
    Instant from = cut.effectiveAt();
    return plan.allocationsAt(cut.pricedAt()).stream()
        .filter(terms -> terms.customPricingUnitId().equals(cut.unitId()))
        .flatMap(terms -> schedule(terms).startingIn(from, from.plusMillis(1)).stream())
        .findFirst()
        .map(slice -> cut.until(slice.end()))
        .orElse(cut);
  }

  private AllocationSchedule schedule(AllocationTerms terms) {
    return new AllocationSchedule(
        subscription.schedule(zone), subscription.view().endDate(), terms.cadence());
  }
}

package io.steelyard.integrity;

import io.steelyard.domain.BillingCadence;
import io.steelyard.domain.BillingPeriod;
import io.steelyard.domain.Id;
import io.steelyard.domain.IdKind;
import io.steelyard.domain.Schedule;
import io.steelyard.domain.SubscriptionStatus;
import io.steelyard.integrity.IntegrityMessages.Check;
import io.vertx.core.Future;
import java.time.Instant;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/** Whether each subscription's periods are those of its schedule, from the first, without a gap. */
final class Tiling {
  private static final int PAGE = 200;

  /**
   * What a subscription's periods follow from.
   *
   * @param endDate null for none, as is {@code trialEnd}
   * @param lastIndex of the period opened last; null before the first
   */
  record Terms(
      UUID id,
      SubscriptionStatus status,
      Instant start,
      Instant endDate,
      Instant trialEnd,
      BillingCadence cadence,
      Integer lastIndex) {
    private boolean isOver() {
      return status == SubscriptionStatus.ENDED || status == SubscriptionStatus.DELETED;
    }

    private boolean hasPeriod(int index) {
      return cadence != BillingCadence.ONE_TIME || index <= (trialEnd == null ? 0 : 1);
    }
  }

  /** A period as it is in the database. */
  record Stored(int index, Instant start, Instant end, boolean trial) {}

  private final PeriodStore store = new PeriodStore();

  Future<Void> check(Inspection inspection) {
    return next(inspection, new UUID(0, 0));
  }

  private Future<Void> next(Inspection inspection, UUID after) {
    return inspection
        .goOn()
        .compose(go -> store.page(inspection.snapshot(), inspection.merchantId(), after, PAGE))
        .compose(
            page -> {
              page.forEach((terms, periods) -> check(inspection, terms, periods));
              return page.size() < PAGE ? Future.succeededFuture() : next(inspection, lastOf(page));
            });
  }

  private static UUID lastOf(Map<Terms, List<Stored>> page) {
    return List.copyOf(page.keySet()).getLast().id();
  }

  private static void check(Inspection inspection, Terms terms, List<Stored> periods) {
    inspection.checked(Check.PERIODS, periods.size());
    Id subject = new Id(IdKind.SUBSCRIPTION, terms.id());
    for (String fault : faults(terms, periods, inspection.call().merchant().zone())) {
      inspection.found(Check.PERIODS, subject, fault);
    }
  }

  private static List<String> faults(Terms terms, List<Stored> periods, ZoneId zone) {
    if (terms.trialEnd() != null && !terms.start().isBefore(terms.trialEnd())) {
      return List.of("the trial ends at " + terms.trialEnd() + ", before the start");
    }
    List<String> faults = new ArrayList<>();
    Schedule schedule = new Schedule(terms.start(), terms.trialEnd(), terms.cadence(), zone);
    int next = 0;
    for (Stored period : periods) {
      if (period.index() > next) {
        faults.add("periods %d to %d are missing".formatted(next, period.index() - 1));
      }
      next = period.index() + 1;
      String fault = fault(terms, schedule, period);
      if (fault != null) {
        faults.add("period %d: %s".formatted(period.index(), fault));
      }
    }
    String fault = faultOfLast(terms, next - 1);
    if (fault != null) {
      faults.add(fault);
    }
    return faults;
  }

  /** What is wrong with the period, or null. */
  private static String fault(Terms terms, Schedule schedule, Stored stored) {
    if (!terms.hasPeriod(stored.index())) {
      return "a oneTime subscription has no such period";
    }
    BillingPeriod full = schedule.period(stored.index());
    if (terms.endDate() != null && !full.start().isBefore(terms.endDate())) {
      return "begins when the subscription has ended, at " + terms.endDate();
    }
    BillingPeriod due = full.clippedTo(terms.endDate());
    boolean same =
        stored.start().equals(due.start())
            && stored.end().equals(due.end())
            && stored.trial() == due.trial();
    return same
        ? null
        : "is %s, should be %s"
            .formatted(
                span(stored.start(), stored.end(), stored.trial()),
                span(due.start(), due.end(), due.trial()));
  }

  private static String span(Instant start, Instant end, boolean trial) {
    return "%s to %s%s".formatted(start, end, trial ? " (trial)" : "");
  }

  /**
   * @param highest index of a stored period; -1 when there is none
   */
  private static String faultOfLast(Terms terms, int highest) {
    if (terms.lastIndex() == null && highest >= 0 && terms.isOver()) {
      return null; // ended before the index was kept
    }
    if (terms.status() == SubscriptionStatus.ACTIVE && highest < 0) {
      return "is active and has no period";
    }
    int last = terms.lastIndex() == null ? -1 : terms.lastIndex();
    return last == highest
        ? null
        : "the period opened last is %s, the highest is %s".formatted(index(last), index(highest));
  }

  private static String index(int index) {
    return index < 0 ? "none" : Integer.toString(index);
  }
}

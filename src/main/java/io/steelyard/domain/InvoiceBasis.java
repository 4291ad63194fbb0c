package io.steelyard.domain;

import java.math.BigDecimal;
import java.time.Instant;
import java.util.List;
import java.util.Map;

/**
 * Everything that decides an invoice's lines.
 *
 * @param chargeUsageInTrial whether the prices of usage are charged during the trial
 * @param opened the period that begins at the boundary; null when none does or it is not invoiced
 * @param closed the period that ends there; null when none does or it is not invoiced
 * @param rebilled earlier periods whose cost may differ from what was billed for them
 */
public record InvoiceBasis(
    PlanTerms plan,
    BillingCadence cadence,
    boolean chargeUsageInTrial,
    Opened opened,
    Closed closed,
    List<Rebilled> rebilled) {
  public InvoiceBasis {
    rebilled = List.copyOf(rebilled);
  }

  /**
   * @param full the whole period
   * @param clipped what the subscription's end date leaves of it, whose share of time is charged
   * @param pricedAt when it opened by the system's time: the prices active then rate it
   */
  public record Opened(BillingPeriod full, BillingPeriod clipped, Instant pricedAt) {}

  /**
   * @param usage by billable; one left out had none
   */
  public record Closed(BillingPeriod period, Instant pricedAt, Map<Id, UsageTotal> usage) {
    public Closed {
      usage = Map.copyOf(usage);
    }
  }

  /**
   * @param ofUsage whether the prices of usage are compared with what was billed
   * @param ofFixed whether the prices in advance are
   * @param billed amounts of the other invoices' lines for this period, by price
   */
  public record Rebilled(
      Opened period,
      Map<Id, UsageTotal> usage,
      boolean ofUsage,
      boolean ofFixed,
      Map<Id, BigDecimal> billed) {
    public Rebilled {
      usage = Map.copyOf(usage);
      billed = Map.copyOf(billed);
    }
  }
}

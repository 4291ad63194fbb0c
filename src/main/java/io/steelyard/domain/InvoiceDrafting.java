package io.steelyard.domain;

import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.List;
import java.util.Map;

/** Which lines an invoice has, and what becomes of it. */
public final class InvoiceDrafting {
  private InvoiceDrafting() {}

  /**
   * What is charged at a period's start: the base price of the cadence, and the prices in advance
   * that are in currency. A trial shows them at zero, except that the prices of usage are charged
   * where the plan says so.
   *
   * @param full the whole period
   * @param clipped what the subscription's end date leaves of it, whose share of time is charged
   */
  public static List<InvoiceLine> advanceLines(
      PlanTerms plan,
      BillingCadence cadence,
      BillingPeriod full,
      BillingPeriod clipped,
      Instant openedAt) {
    return plan.pricesFor(cadence, openedAt).stream()
        .filter(price -> price.base() || isInvoiced(price, BillingMode.ADVANCE))
        .map(price -> advanceLine(plan, cadence, price, full, clipped))
        .toList();
  }

  private static InvoiceLine advanceLine(
      PlanTerms plan,
      BillingCadence cadence,
      PriceTerms price,
      BillingPeriod full,
      BillingPeriod clipped) {
    boolean free = full.trial() && (price.base() || !plan.chargeUsageDuringTrial());
    String name = price.base() ? plan.name() + " (" + cadence.wire() + ")" : price.name();
    BigDecimal whole = Rating.advanceAmount(price);
    BigDecimal quantity = price.rules().quantity();
    return line(
        LineKind.ADVANCE,
        price,
        free ? name + " (trial)" : name,
        quantity,
        Money.divide(whole, quantity),
        free ? BigDecimal.ZERO : prorated(whole, cadence, full, clipped),
        clipped);
  }

  private static BigDecimal prorated(
      BigDecimal whole, BillingCadence cadence, BillingPeriod full, BillingPeriod clipped) {
    // A period without end has no share: what is charged once is charged whole.
    if (cadence == BillingCadence.ONE_TIME && !full.trial()) {
      return whole;
    }
    return Money.divide(whole.multiply(millis(clipped)), millis(full));
  }

  private static BigDecimal millis(BillingPeriod period) {
    return BigDecimal.valueOf(Duration.between(period.start(), period.end()).toMillis());
  }

  /**
   * What is charged at a period's end for its usage. Every price has its line, also for nothing.
   *
   * @param quantityByBillable the period's quantities; a billable left out has none
   * @param chargeUsage whether the usage of a trial is charged
   */
  public static List<InvoiceLine> arrearsLines(
      PlanTerms plan,
      BillingCadence cadence,
      BillingPeriod period,
      Instant openedAt,
      Map<Id, BigDecimal> quantityByBillable,
      boolean chargeUsage) {
    if (period.trial() && !chargeUsage) {
      return List.of();
    }
    return plan.pricesFor(cadence, openedAt).stream()
        .filter(price -> !price.base() && isInvoiced(price, BillingMode.ARREARS))
        .map(
            price -> {
              BigDecimal quantity =
                  quantityByBillable.getOrDefault(price.billableId(), BigDecimal.ZERO);
              BigDecimal exact = Rating.usageAmount(price, quantity);
              return line(
                  LineKind.ARREARS,
                  price,
                  price.name(),
                  quantity,
                  usedUnitPrice(price, quantity),
                  exact,
                  period);
            })
        .toList();
  }

  private static BigDecimal usedUnitPrice(PriceTerms price, BigDecimal quantity) {
    PriceRules rules = price.rules();
    return switch (price.type()) {
      case UNIT, BULK -> Money.divide(rules.price(), rules.quantity());
      case TIERED, VOLUME -> {
        BigDecimal charged = Rating.chargedQuantity(price, quantity);
        yield charged.signum() == 0
            ? BigDecimal.ZERO
            : Money.divide(Rating.amount(price, charged), charged);
      }
    };
  }

  private static boolean isInvoiced(PriceTerms price, BillingMode mode) {
    return price.mode() == mode && !price.usesCustomPricingUnit();
  }

  private static InvoiceLine line(
      LineKind kind,
      PriceTerms price,
      String description,
      BigDecimal quantity,
      BigDecimal unitPrice,
      BigDecimal exact,
      BillingPeriod period) {
    return new InvoiceLine(
        kind,
        period.index(),
        price,
        description,
        quantity,
        unitPrice,
        exact,
        Money.toCents(exact),
        period.start(),
        period.end());
  }

  /** The sum of what the lines show. */
  public static BigDecimal total(List<InvoiceLine> lines) {
    return Money.sum(lines.stream().map(InvoiceLine::amount).toList());
  }

  /** The last millisecond, in the merchant's zone, of the day that the net terms end on. */
  public static Instant dueDate(Instant issue, NetTerms terms, ZoneId zone) {
    return issue
        .atZone(zone)
        .toLocalDate()
        .plusDays(terms.days() + 1L)
        .atStartOfDay(zone) // by the next day's start, since 23:59 may occur twice
        .toInstant()
        .minusMillis(1);
  }

  /**
   * What an invoice becomes when nothing can change it any more.
   *
   * @param gateway null for none
   */
  public static InvoiceStatus finalStatus(
      BigDecimal total, PaymentGateway gateway, Environment environment) {
    if (total.signum() == 0) {
      return InvoiceStatus.PAID;
    }
    if (gateway != null) {
      return InvoiceStatus.READY_TO_SYNC;
    }
    return environment == Environment.TEST ? InvoiceStatus.TEST : InvoiceStatus.ISSUED;
  }
}

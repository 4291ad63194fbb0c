package io.steelyard.domain;

import io.steelyard.domain.InvoiceBasis.Closed;
import io.steelyard.domain.InvoiceBasis.Opened;
import io.steelyard.domain.InvoiceBasis.Rebilled;
import java.math.BigDecimal;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Which lines an invoice has, and what becomes of it. */
public final class InvoiceDrafting {
  private InvoiceDrafting() {}

  /**
   * The lines of an invoice: the opened period in advance, the closed one's usage, and what earlier
   * periods cost now but were not billed. Each group in the order of the plan's prices, the base
   * price first.
   */
  public static List<InvoiceLine> lines(InvoiceBasis basis) {
    List<InvoiceLine> lines = new ArrayList<>();
    if (basis.opened() != null) {
      lines.addAll(advanceLines(basis, basis.opened()));
    }
    if (basis.closed() != null) {
      Closed closed = basis.closed();
      lines.addAll(arrearsLines(basis, closed.period(), closed.pricedAt(), closed.usage()));
    }
    for (Rebilled rebilled : basis.rebilled()) {
      lines.addAll(adjustmentLines(basis, rebilled));
    }
    return List.copyOf(lines);
  }

  /**
   * What is charged at a period's start: the base price of the cadence, and the prices in advance
   * that are in currency. A trial shows them at zero, except that the prices of usage are charged
   * where the subscription says so.
   */
  private static List<InvoiceLine> advanceLines(InvoiceBasis basis, Opened opened) {
    return basis.plan().pricesFor(basis.cadence(), opened.pricedAt()).stream()
        .filter(price -> price.base() || isInvoiced(price, BillingMode.ADVANCE))
        .map(price -> advanceLine(basis, price, opened))
        .toList();
  }

  private static InvoiceLine advanceLine(InvoiceBasis basis, PriceTerms price, Opened opened) {
    boolean free = opened.full().trial() && (price.base() || !basis.chargeUsageInTrial());
    String name =
        price.base() ? basis.plan().name() + " (" + basis.cadence().wire() + ")" : price.name();
    Quotient whole = Rating.advanceAmount(price);
    Quotient quantity = Quotient.of(price.rules().quantity());
    return line(
        LineKind.ADVANCE,
        price,
        free ? name + " (trial)" : name,
        quantity,
        whole.dividedBy(quantity),
        free ? Quotient.ZERO : prorated(whole, basis.cadence(), opened),
        opened.clipped());
  }

  private static Quotient prorated(Quotient whole, BillingCadence cadence, Opened opened) {
    // A period without end has no share: what is charged once is charged whole.
    if (cadence == BillingCadence.ONE_TIME && !opened.full().trial()) {
      return whole;
    }
    return whole.times(millis(opened.clipped())).dividedBy(millis(opened.full()));
  }

  private static BigDecimal millis(BillingPeriod period) {
    return BigDecimal.valueOf(Duration.between(period.start(), period.end()).toMillis());
  }

  /** Whether a closed period has lines for its usage, be they for nothing. */
  public static boolean hasArrears(InvoiceBasis basis) {
    Closed closed = basis.closed();
    return closed != null
        && !arrearsLines(basis, closed.period(), closed.pricedAt(), Map.of()).isEmpty();
  }

  /**
   * What is charged at a period's end for its usage. Every price has its line, also for nothing.
   */
  private static List<InvoiceLine> arrearsLines(
      InvoiceBasis basis, BillingPeriod period, Instant pricedAt, Map<Id, UsageTotal> usage) {
    if (period.trial() && !basis.chargeUsageInTrial()) {
      return List.of();
    }
    return basis.plan().pricesFor(basis.cadence(), pricedAt).stream()
        .filter(price -> !price.base() && isInvoiced(price, BillingMode.ARREARS))
        .map(price -> arrearsLine(price, quantity(basis.plan(), price, pricedAt, usage), period))
        .toList();
  }

  private static InvoiceLine arrearsLine(
      PriceTerms price, Quotient quantity, BillingPeriod period) {
    return line(
        LineKind.ARREARS,
        price,
        price.name(),
        quantity,
        usedUnitPrice(price, quantity),
        Rating.usageAmount(price, quantity),
        period);
  }

  private static Quotient quantity(
      PlanTerms plan, PriceTerms price, Instant pricedAt, Map<Id, UsageTotal> usage) {
    UsageTotal total = usage.getOrDefault(price.billableId(), UsageTotal.NONE);
    return plan.billables()
        .get(price.billableId())
        .rulesAt(pricedAt)
        .map(rules -> total.quantity(rules.calculation()))
        .orElse(Quotient.ZERO);
  }

  /**
   * What an earlier period costs now, less what was billed for it. The quantity is that of the
   * whole period, since under tiers, limits or a maximum the difference of two amounts belongs to
   * no part of it.
   */
  private static List<InvoiceLine> adjustmentLines(InvoiceBasis basis, Rebilled rebilled) {
    Opened period = rebilled.period();
    List<InvoiceLine> now = new ArrayList<>();
    if (rebilled.ofFixed()) {
      now.addAll(advanceLines(basis, period));
    }
    if (rebilled.ofUsage()) {
      now.addAll(arrearsLines(basis, period.clipped(), period.pricedAt(), rebilled.usage()));
    }
    return now.stream()
        .map(line -> difference(line, rebilled.billed()))
        .filter(line -> line.amount().signum() != 0)
        .toList();
  }

  private static InvoiceLine difference(InvoiceLine now, Map<Id, BigDecimal> billed) {
    BigDecimal before = billed.getOrDefault(now.price().id(), BigDecimal.ZERO);
    return new InvoiceLine(
        LineKind.ADJUSTMENT,
        now.periodIndex(),
        now.price(),
        now.description() + " (adjustment)",
        now.quantity(),
        now.unitPrice(),
        now.exactAmount().subtract(before),
        now.amount().subtract(before),
        now.start(),
        now.end());
  }

  private static Quotient usedUnitPrice(PriceTerms price, Quotient quantity) {
    PriceRules rules = price.rules();
    return switch (price.type()) {
      case UNIT, BULK -> new Quotient(rules.price(), rules.quantity());
      case TIERED, VOLUME -> {
        Quotient charged = Rating.chargedQuantity(price, quantity);
        yield charged.signum() == 0
            ? Quotient.ZERO
            : Rating.amount(price, charged).dividedBy(charged);
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
      Quotient quantity,
      Quotient unitPrice,
      Quotient exact,
      BillingPeriod period) {
    return new InvoiceLine(
        kind,
        period.index(),
        price,
        description,
        quantity.toDecimal(),
        unitPrice.toDecimal(),
        exact.toDecimal(),
        Money.toCents(exact),
        period.start(),
        period.end());
  }

  /** The sum of what the lines show. */
  public static BigDecimal total(List<InvoiceLine> lines) {
    return Money.sum(lines.stream().map(InvoiceLine::amount).toList());
  }

  /**
   * When an invoice must be paid: the last millisecond, in the merchant's zone, of the day that the
   * net terms end on; at once when it is charged automatically.
   */
  public static Instant dueDate(
      Instant issue, NetTerms terms, boolean chargedAutomatically, ZoneId zone) {
    if (chargedAutomatically) {
      return issue;
    }
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
    if (total.signum() <= 0) {
      return InvoiceStatus.PAID;
    }
    if (gateway != null) {
      return InvoiceStatus.READY_TO_SYNC;
    }
    return environment == Environment.TEST ? InvoiceStatus.TEST : InvoiceStatus.ISSUED;
  }
}

package io.steelyard.subscription;

import io.steelyard.domain.BillingPeriod;
import io.steelyard.domain.Id;
import io.steelyard.domain.InvoiceBasis.Closed;
import io.steelyard.domain.InvoiceBasis.Rebilled;
import java.time.Instant;
import java.util.List;

/**
 * The instant at which a subscription's period ends, the next one begins, or both.
 *
 * @param index of the period that begins, or would if the subscription did not end
 * @param at the instant itself
 * @param opened the whole period that begins; null when the subscription ends
 * @param closed the period that ends, with its usage; null at the subscription's start
 * @param rebilled earlier periods that may have to be corrected
 * @param countedBy every event accepted before then has been counted; null when that is not known
 * @param pausedInvoice the invoice that could not be made when this was tried before; else null
 */
public record Boundary(
    Subscription subscription,
    int index,
    Instant at,
    BillingPeriod opened,
    Closed closed,
    List<Rebilled> rebilled,
    Instant countedBy,
    Id pausedInvoice) {
  public Boundary {
    rebilled = List.copyOf(rebilled);
  }

  /** The start of a subscription's first period. */
  public static Boundary first(Subscription subscription, BillingPeriod opened, Id pausedInvoice) {
    return new Boundary(
        subscription, 0, opened.start(), opened, null, List.of(), null, pausedInvoice);
  }
}

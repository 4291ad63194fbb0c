/**
 * The rules of billing, with nothing around them: every function is complete in its input and its
 * output, asks no clock, does no I/O and imports only {@code java}.
 *
 * <p>A <b>subscription</b> cuts time into {@link io.steelyard.domain.BillingPeriod periods}, which
 * its {@link io.steelyard.domain.Schedule} lays end to end from its start: half-open, in the
 * merchant's zone, each counted from the original anchor so that Jan 31 is followed by Feb 28 and
 * then Mar 31. An <b>event</b> belongs to the period that holds its own time, and to each
 * <b>billable</b> whose {@link io.steelyard.domain.EventRules} it matches. What the events of one
 * period and billable amount to is a {@link io.steelyard.domain.UsageTotal}, which does not depend
 * on the order they come in; the billable's calculation makes one <b>quantity</b> of it.
 *
 * <p>{@link io.steelyard.domain.Rating} turns a quantity into an exact amount of currency, or of a
 * <b>custom pricing unit</b>, which {@link io.steelyard.domain.CreditDrawdown} takes from blocks.
 * {@link io.steelyard.domain.InvoiceDrafting} makes lines of amounts and alone rounds: once per
 * line, half-up to the cent, so that an invoice's total is the sum of what its lines show.
 *
 * <p>A period is rated with the prices that were active when it opened, so {@link
 * io.steelyard.domain.PlanTerms} carries all versions. Not owned here: when a period opens or
 * closes, which events count twice, what is stored, and how anything is shown.
 */
package io.steelyard.domain;

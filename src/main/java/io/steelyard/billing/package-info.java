/**
 * The clockwork: does what the passing of time demands. It takes subscriptions over the boundaries
 * of their periods in order, however late it comes ({@link io.steelyard.billing.BoundaryJob});
 * makes pending invoices final once their grace is over and everything accepted before has been
 * counted ({@link io.steelyard.billing.FinalisationJob}); bills late usage of ended subscriptions
 * ({@link io.steelyard.billing.CorrectionJob}); lets units expire and invoices become overdue.
 *
 * <p>Every instance on every node may run it: work is claimed in the database ({@code FOR NO KEY
 * UPDATE SKIP LOCKED}) in short transactions of one merchant each, so that whoever dies leaves
 * nothing half done. A merchant's own clock decides what is due. Each instance goes round the
 * merchants by id, so that work which has to wait is in nobody's way. Locks are taken in this
 * order: claimed rows, then customers ({@code db.CustomerLocks}), then the merchant's invoice
 * numbers.
 *
 * <p>Words: a subscription is <i>due</i> at {@code due_at}; a boundary is <i>passed</i> when the
 * period before it has been brought up to date, and units within a period are allocated when it has
 * been brought up to date so far; what cannot be done is halved until the one subscription is found
 * that is at fault, which is <i>parked</i> with its invoice paused.
 *
 * <p>Not owned here: what passing a boundary brings ({@code subscription.Boundaries}), what is on
 * an invoice ({@code domain.InvoiceDrafting}), and the ways of final invoices ({@code delivery}).
 */
package io.steelyard.billing;

/**
 * Subscriptions bind a customer to a plan. Their periods tile time from the start date, half-open,
 * in the merchant's zone; each opened one is a row of {@code subscription_period}.
 *
 * <p>Words: a subscription is <i>upcoming</i> until its start date; <i>cancelled</i> means it has
 * an end date; <i>ended</i> is what it becomes at that date; a <i>trial</i> is the first period of
 * a subscription to a plan with trial days. <i>Boundary</i> k is the start of period k, and the end
 * of the one before. Passing it opens the period with its units and access and makes the invoice,
 * in one transaction ({@link io.steelyard.subscription.Boundaries}).
 *
 * <p>Not owned here: when boundaries are passed ({@code billing}), the rules of time and money
 * ({@code domain}), the rows of invoices and blocks ({@code invoice}, {@code credit}), and counting
 * usage ({@code usage}).
 */
package io.steelyard.subscription;

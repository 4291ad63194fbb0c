/**
 * The clockwork: does what the passing of time demands of subscriptions. Upcoming ones become
 * active at their start date, which opens their first period; active ones end at their end date.
 *
 * <p>Every instance on every node may run it: work is claimed in the database ({@code FOR UPDATE
 * SKIP LOCKED}) in short transactions of one merchant each, so that whoever dies leaves nothing
 * half done. A merchant's own clock decides what is due.
 *
 * <p>Not owned here: what opening a period brings ({@code subscription.PeriodOpening}).
 */
package io.steelyard.billing;

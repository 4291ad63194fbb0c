/**
 * Usage: from the body of a request to what a customer has used.
 *
 * <p>An <b>event</b> is stored once for ever under (merchant, <b>key</b>); the first write wins,
 * and a sender is answered only after the commit. Requests that come together are written by one
 * <b>flush</b>, which leaves one <b>batch</b> per merchant for the fold. The <b>fold</b> takes
 * batches, never a range of numbers, since sequences become visible out of order, and deletes each
 * in the transaction that counts it.
 *
 * <p>An event counts in every <b>period</b> of its customer that holds its {@code generatedAt}, on
 * the <b>meter</b> of each billable that the period has a price for. A period that is opened after
 * events of its time were folded is not ready until a <b>backfill</b> has counted these from
 * storage. The customer's lock is held by whoever folds, backfills or opens a period, so that an
 * event is counted by exactly one of the two, however late the customer or the period appears.
 *
 * <p>Units may be allocated more than once in a period, and usage draws from those of its time. So
 * the fold counts in it only up to the next allocation that is to come: with the first event
 * <b>ahead</b> of that, the period is ready up to there only, and a backfill counts what has waited
 * once the units are there.
 *
 * <p>A period that is cut short after events ahead of the cut were counted is <b>recounted</b>: its
 * counters are thrown away with the cut, and a backfill counts all of what remains. What it has
 * drawn stays so meanwhile, and is brought to what it needs when all is counted.
 *
 * <p>A price in custom pricing units <b>draws</b> from the customer's blocks what its rated
 * quantity asks for, event by event; what no block covers stays uncovered, and when the quantity
 * falls, first that shrinks and then units go back to the blocks drawn from last. Drawn units of a
 * price are always the sum of its draws, and a block's ledger always sums to what remains.
 *
 * <p>A period is counted by the versions of prices and rules that were in force when it opened.
 * Once it is <b>closed</b> its usage is on an invoice, and an event that is counted in it then is
 * <b>late</b>: it is noted, with the period, for the invoice that will bill the difference. So the
 * events behind a line can be told for ever: all that count in its period and were folded, without
 * those that were late for its invoice. To <b>explain</b> a line is to list them.
 *
 * <p>A <b>month</b> of events, of all merchants, can be <b>dropped</b> once nothing <b>needs</b>
 * it: no merchant's time is in it or before it, no period with an end that began before its end is
 * open, and of those that overlap it none waits for an invoice, a correction or a count. Counters
 * stay, and so do the keys: a dropped event stays a duplicate for ever. Late events of a dropped
 * month are counted and kept as any others, until it is dropped again. What the events of a period
 * were is not told once some may be gone; a period without end holds no month up, and is not
 * counted anew over a dropped one: cut short, it keeps what it has counted, also behind the cut. A
 * period that is opened over a dropped month counts what is left.
 *
 * <p>Not owned here: when periods open and close, what usage costs in money, who allocates and
 * expires blocks, and what an event's matching means, which is {@code domain.EventRules}.
 */
package io.steelyard.usage;

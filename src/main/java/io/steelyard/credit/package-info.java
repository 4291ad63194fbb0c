/**
 * Prepaid custom pricing units. An <i>allocation block</i> is an amount of one unit for one
 * customer with a time from which and until which it may be used; the <i>ledger</i> ({@code
 * credit_transaction}) says why its remaining amount changed. A block comes from a plan, one for
 * each <i>slice</i> of an allocation ({@code domain.AllocationSchedule}), by hand, or from a
 * <i>rollover</i>: what is left of a plan's block when the next begins moves into a block beside
 * it, up to the most that the plan said when it allocated the old one, and dies with it.
 * Rolled-over units are as old as they are and so go before the new ones.
 *
 * <p>A block that has ended counts as nothing at once. What is left of it is written off later, so
 * that events of its time that come late may still draw from it: a row of type {@code expiration}.
 * A void invoice <i>releases</i> what its usage has drawn: units go back to blocks that are valid
 * still, and the invoice that takes the usage over draws the same number again, from what is valid
 * then.
 *
 * <p>Invariants: the ledger is append-only and signed, and a block's rows sum to what remains of
 * it, always; a block never goes below zero; rows of one operation share an {@code operationId}
 * derived from its cause, so that a replay collides with itself; what a price has drawn in a period
 * is the sum of its draws from blocks and never more than it requires.
 *
 * <p>Locks: whoever changes what remains of a block holds the locks of its customer ({@code
 * db.CustomerLocks}) and then the rows, in the order of their ids. New blocks need neither: nobody
 * else has seen them, and a fold that misses one by a moment draws as it would have before it.
 *
 * <p><i>Used</i> in the current period is told by draws, not by the ledger: of a block that came in
 * the period all its draws, whatever period the usage is of, since its units did not exist before;
 * of an older block the draws for usage of periods that are not over when the current one begins.
 * So it does not matter when an event of an earlier period came, and expiry, rollover and a void
 * invoice of an earlier period take nothing from what was used. <i>Allocated</i> is what was used
 * and what remains: with what rolled over, and without what lapsed or was used before the period.
 * (By its dates the ledger would count a reversal of last period's units as use below zero now, and
 * a block's amount less its remainder counts what lapsed and rolled over as used.)
 *
 * <p>Not owned here: drawing units for usage, which the fold does in the transaction that counts
 * the usage ({@code usage}), and the order in which blocks are drawn ({@code
 * domain.CreditDrawdown}).
 */
package io.steelyard.credit;

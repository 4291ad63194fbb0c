/**
 * Prepaid custom pricing units. An <i>allocation block</i> is an amount of one unit for one
 * customer with a time from which and until which it may be used; the <i>ledger</i> ({@code
 * credit_transaction}) says why its remaining amount changed.
 *
 * <p>Invariants: the ledger is append-only and signed, and a block's rows sum to what remains of
 * it, always; a block never goes below zero; rows of one operation share an {@code operationId}
 * derived from its cause, so that a replay collides with itself.
 *
 * <p>Not owned here: drawing units for usage, which the fold does in the transaction that counts
 * the usage ({@code usage}), and the order in which blocks are drawn ({@code
 * domain.CreditDrawdown}).
 */
package io.steelyard.credit;

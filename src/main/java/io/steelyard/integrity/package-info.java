/**
 * Whether what is stored is consistent with itself, asked at any time and now and then by itself.
 *
 * <p>Words: a check looks at subjects of one kind (blocks, periods, invoices), a fault is one of
 * them that is wrong, a finding tells a fault. An inspection does all checks for one merchant in
 * one read-only snapshot, so that work going on beside it is seen whole or not at all. A stray is a
 * row of a merchant that is not there: only a round over all merchants looks for them.
 *
 * <p>Invariants: nothing is ever written here; what cannot be judged is left out rather than
 * reported: events that wait for the fold, periods with an invoice that is not final or that are to
 * be billed again, and the counters of periods some of whose events were dropped, which are still
 * compared with the bills.
 *
 * <p>Reads every table through stores of its own, so that a fault in another feature's store cannot
 * hide itself; what events count for is asked of {@code usage}, what they cost of {@code domain}.
 */
package io.steelyard.integrity;

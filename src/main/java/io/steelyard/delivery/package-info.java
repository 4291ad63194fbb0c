/**
 * The delivery: does at the payment gateways what is to be done with final invoices. An invoice is
 * <em>synced</em>, which makes it known to its gateway; then, as its flags say, <em>collected</em>
 * or <em>sent</em>.
 *
 * <p>What is to be done is a row of the outbox, written in the transaction that made it necessary.
 * An attempt is three steps. A first transaction claims rows ({@code FOR NO KEY UPDATE SKIP
 * LOCKED}), leases them for a while and moves their invoices on ({@code syncing}, {@code
 * pendingPayment}, {@code sending}). Then the gateway is asked, with no transaction open. A second
 * transaction settles: it ends the row or lets it wait, and moves the invoice by what the gateway
 * said. Whoever dies in between leaves a lease that runs out, and the attempt is repeated under the
 * same idempotency key. The key changes only after the gateway has given its verdict, so that
 * nothing is charged twice; before each charge the gateway is asked whether the invoice is paid
 * already.
 *
 * <p>An attempt without a verdict is repeated later, each time after a longer wait; after the last
 * one an invoice is paused, or its payment failed, or it waits to be sent, until an operator has it
 * tried again. A late answer of an attempt that was repeated meanwhile has no effect.
 *
 * <p>Not owned here: the outbox and the table of transitions ({@code invoice}), and how a gateway
 * is spoken to ({@code gateway}).
 */
package io.steelyard.delivery;

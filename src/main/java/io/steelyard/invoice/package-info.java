/**
 * Invoices: one per subscription and period boundary, with the advance lines of the period that
 * begins there. Numbered without gaps per merchant ({@code vanityId}): the number is taken in the
 * transaction that makes the invoice.
 *
 * <p>A line keeps its exact amount and the amount rounded half-up to the cent; an invoice's total
 * is the sum of its rounded lines.
 *
 * <p>Which state follows which is said in one place ({@code domain.InvoiceTransitions}). A change
 * compares and sets: it takes place only if the invoice still is in the state that it is to leave,
 * and its row in the record of transitions is written by the same statement. What has to be done at
 * a payment gateway in consequence is a row of the <em>outbox</em>, in the same transaction; {@code
 * delivery} does it. While a gateway is asked, nobody else changes the invoice.
 *
 * <p>A <em>void</em> invoice keeps its number and its lines. The usage that it billed, and the
 * units that were drawn for it, are freed for the next invoice. Who changes an invoice takes its
 * row's lock before the customer's, and both before the outbox's.
 *
 * <p>Not owned here: which lines there are and what they cost ({@code domain.InvoiceDrafting}), and
 * when an invoice is made ({@code subscription}).
 */
package io.steelyard.invoice;

/**
 * Invoices: one per subscription and period boundary, with the advance lines of the period that
 * begins there. Numbered without gaps per merchant ({@code vanityId}): the number is taken in the
 * transaction that makes the invoice.
 *
 * <p>A line keeps its exact amount and the amount rounded half-up to the cent; an invoice's total
 * is the sum of its rounded lines.
 *
 * <p>Not owned here: which lines there are and what they cost ({@code domain.InvoiceDrafting}), and
 * when an invoice is made ({@code subscription}).
 */
package io.steelyard.invoice;

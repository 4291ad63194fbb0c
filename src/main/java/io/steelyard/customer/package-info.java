/**
 * Customers of a merchant, known by our id and by the merchant's own {@code externalId}, which is
 * unique per merchant.
 *
 * <p>Creating a customer subscribes it to the merchant's default plan: the customer, its
 * subscription, first period, units and first invoice commit together or not at all. A bulk upsert
 * does none of that; a field left out stays as it was, a field sent as null is cleared.
 *
 * <p>Not owned here: what a subscription brings ({@code subscription}), balances of units ({@code
 * credit}), and the sessions in which a customer gives a card ({@code gateway}).
 */
package io.steelyard.customer;

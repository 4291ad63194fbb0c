/**
 * Connections to the systems outside that collect money or keep the books, and sessions at a card
 * gateway.
 *
 * <p>A <em>gateway</em> is one of the three systems a merchant may bill through: the card gateway
 * and two ledgers. A merchant has at most one <em>connection</em> to each. A connection is of kind
 * <em>sandbox</em>, which lives in this process and its database and charges nobody, or
 * <em>http</em>, which is a base URL and a <em>secret</em>. The secret is encrypted before it
 * reaches the database, bound to its merchant and gateway, and leaves this package only in the
 * Authorization header of a call to that gateway.
 *
 * <p>A <em>setup session</em> is a page that the card gateway hosts, on which a customer of the
 * merchant gives a new card; nothing is charged. It belongs to a customer of the gateway, which is
 * made on first need and whose id is then kept with our customer: of two requests that race, the
 * first to store wins and both use the stored one.
 *
 * <p>A <em>document</em> is an invoice as a gateway knows it, under an <em>external id</em>. Any of
 * the gateways takes documents; over http all of them are spoken to as Stripe's API is. The sandbox
 * remembers in its own tables which documents it has, what it was asked under which key, and how
 * often it has charged and sent each; an operator may tell it to decline, to demand an action of
 * the customer, to keep silent and to answer twice.
 *
 * <p>Calls to a gateway carry an idempotency key that names their cause, the same on each attempt,
 * so that an attempt whose outcome is unknown may be repeated. They end by the deadline of the
 * request they serve and never run while a database transaction is open.
 *
 * <p>Customers belong to {@code customer}; what a connection permits a subscription or an invoice
 * is decided there, not here.
 */
package io.steelyard.gateway;

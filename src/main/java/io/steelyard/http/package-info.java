/**
 * The external API on {@code http.port}: one {@code XxxRoutes} per part of it, each a table of
 * paths and what they ask of which feature. Knows HTTP and messages, no SQL and no rules.
 *
 * <p>Not owned here: the shape of bodies, which {@code openapi/external.yaml} says, and statuses of
 * failures ({@code web.Problems}).
 */
package io.steelyard.http;

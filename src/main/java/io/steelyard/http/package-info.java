/**
 * The external API on {@code http.port}: one {@code XxxRoutes} per part of it, each a table of
 * paths and what they ask of which feature. Knows HTTP and messages, no SQL and no rules. Who may
 * come in, and how much of it in a second, is decided here ({@link io.steelyard.http.RateLimits}).
 *
 * <p>Not owned here: the shape of bodies, which {@code openapi/external.yaml} says, and statuses of
 * failures ({@code web.Problems}).
 */
package io.steelyard.http;

/**
 * The management port: health, metrics, and the operator API with which merchants, their keys,
 * catalogues, gateways and clocks are set up. Never reachable on {@code http.port}; the operator
 * API needs the operator's token.
 */
package io.steelyard.operator;

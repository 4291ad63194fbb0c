/**
 * Requests that nobody thought of: made from the OpenAPI documents, valid, nearly valid and
 * hostile, each from a seed and its number alone, sent to a service of its own; and what every
 * answer to one must be. {@code -Dfuzz.seed=S -Dfuzz.first=N -Dfuzz.requests=1} sends number N of
 * seed S again.
 */
package io.steelyard.fuzz;

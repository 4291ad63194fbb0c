/**
 * Measures what the service reaches on this machine, beside the bare limit of its PostgreSQL in the
 * same run. Starts the real service in a process of its own, with an embedded database as durable
 * as in operation; needs nothing that is not in the project.
 */
package io.steelyard.bench;

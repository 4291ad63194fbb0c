/**
 * The database as such: where it is ({@link io.steelyard.db.Endpoint}), the embedded one, bringing
 * its schema up to date, the bounded pools, new ids, and what its errors mean to a caller.
 *
 * <p>Invariants: nothing waits for a connection without a limit in number and time; every statement
 * has a timeout; an error that leaves the outcome unknown is never reported as success.
 *
 * <p>Not owned here: any query. Those are in the {@code XxxStore} of the feature they serve.
 */
package io.steelyard.db;

/**
 * PostgreSQL: where it is, how it is reached, and what its errors mean.
 *
 * <p>An <i>endpoint</i> says where the database is and who we are there. {@link
 * io.steelyard.db.Database} opens it: one elsewhere, or the <i>embedded</i> one, which is a
 * PostgreSQL of our own in the <i>data directory</i>. That directory belongs to one process at a
 * time, by a lock that ends with the process however it ends; it holds the <i>cluster</i> (the
 * server's files), the programs, the logs, and secrets made once.
 *
 * <p>The embedded server is as durable as any other: it does not start with fsync,
 * synchronous_commit or full_page_writes off. It listens on the loopback address alone, and only
 * with a password that its owner can read. A server that a killed service left behind is stopped
 * before the next one starts. Nothing here deletes a cluster: what is made is made under another
 * name and renamed when it is whole.
 *
 * <p>A <i>pool</i> is a bulkhead: one for the APIs, one for events, one for the fold. {@link
 * io.steelyard.db.SqlFailures} turns an error into a {@link io.steelyard.bus.Failure}; the rows and
 * the statements belong to the features.
 *
 * <p>{@link io.steelyard.db.Idempotency} lets requests be repeated: it runs the transaction of a
 * feature's effect, with the caller's key and the answer in it. What must not lie readable is
 * sealed in a {@link io.steelyard.db.SecretBox}.
 */
package io.steelyard.db;

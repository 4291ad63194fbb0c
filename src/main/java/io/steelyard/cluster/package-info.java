/**
 * This process as a node of a cluster.
 *
 * <p>A <i>membership</i> is Hazelcast's: it finds the other nodes, by a list, by DNS or by
 * Kubernetes and in no other way, tells who comes and goes, and carries the register of Vert.x's
 * clustered event bus. No state of the service lives in it: what nodes share is in the database, so
 * that a split or a lost node costs requests, never data. The <i>handshake</i> lets nobody in who
 * does not know {@code cluster.secret}: it is on every connection before the first byte of
 * Hazelcast's own.
 *
 * <p>Not owned here: which node answers what ({@code bus}), and when to join and to leave (the
 * top).
 */
package io.steelyard.cluster;

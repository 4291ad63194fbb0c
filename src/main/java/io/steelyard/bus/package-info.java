/**
 * The contract between verticles. A feature says in its {@code XxxMessages} what it may be asked;
 * {@link io.steelyard.bus.Bus#ask} sends such a {@link io.steelyard.bus.Request} together with its
 * {@link io.steelyard.bus.Call} (whose request, whose merchant, until when), and the feature's
 * {@link io.steelyard.bus.ServiceVerticle} answers with a {@link io.steelyard.bus.Reply} or fails
 * with a {@link io.steelyard.bus.Failure}.
 *
 * <p>Invariants: every request is answered before its deadline, with a failure at the latest; no
 * instance works on more requests than its limit; a record is complete when it is made and never
 * changes; a hop over the bus is the end of a transaction, so what must commit together is asked of
 * one verticle.
 *
 * <p>Not owned here: what a failure looks like in HTTP ({@code web}), and what an error of the
 * database means ({@code db}).
 */
package io.steelyard.bus;

/**
 * The process around the features.
 *
 * <p>{@link io.steelyard.Main} turns a configuration into a {@link io.steelyard.Service} and the
 * service's fate into an exit code: 0 after a stop in order, 1 with one line on stderr for
 * everything else. The service opens its <i>platform</i> (Vert.x and the metrics, in the cluster
 * where there is one) and its database at the same time, brings the schema up to date, and then
 * starts the <i>entries</i> of the {@link io.steelyard.Deployment}, kind after kind ({@link
 * io.steelyard.Entry.Kind}). Nothing listens before the schema fits.
 *
 * <p><i>Ready</i> means that every entry runs and no stop has begun. A stop takes readiness away
 * first, then ends the entries, HTTP first with time for the requests in flight, then Vert.x, then
 * the embedded database; every step has a limit of its own and a step that fails does not keep the
 * next one from running.
 *
 * <p>This package knows every feature, no feature knows it. It owns no rule of the business and
 * answers no request.
 */
package io.steelyard;

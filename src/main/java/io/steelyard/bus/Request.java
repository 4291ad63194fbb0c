package io.steelyard.bus;

/**
 * What a verticle may be asked.
 *
 * @param <R> what it answers
 */
public interface Request<R extends Reply> extends BusRecord {
  /** Where the verticle that answers listens. */
  Address address();
}

package io.steelyard.bus;

/** What a verticle answers to a {@link Request}. */
public interface Reply extends BusRecord {
  /** What of it the caller of the API is shown, to become JSON. */
  default Object shown() {
    return this;
  }

  /** Whether it shows what is shown only once, such as an API key. */
  default boolean showsSecret() {
    return false;
  }
}

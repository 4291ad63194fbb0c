package io.steelyard.bus;

/** What a verticle answers to a {@link Request}. */
public interface Reply extends BusRecord {}

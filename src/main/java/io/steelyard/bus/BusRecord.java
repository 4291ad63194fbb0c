package io.steelyard.bus;

/** Anything that may travel over the event bus: an immutable record of a feature's contract. */
public interface BusRecord {}

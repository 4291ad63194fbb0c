package io.steelyard.bus;

/** A request together with the call it belongs to, as it travels over the bus. */
public record Envelope(Call call, Request<?> request) implements BusRecord {}

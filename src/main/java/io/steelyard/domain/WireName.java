package io.steelyard.domain;

/** An enum constant that is written in JSON and in the database under its documented name. */
public interface WireName {
  /** The documented name, e.g. {@code oneTime}. */
  String wire();

  /**
   * The constant of {@code type} with this documented name.
   *
   * @throws IllegalArgumentException when no constant has that name
   */
  static <E extends Enum<E> & WireName> E parse(Class<E> type, String wire) {
    for (E constant : type.getEnumConstants()) {
      if (constant.wire().equals(wire)) {
        return constant;
      }
    }
    throw new IllegalArgumentException(type.getSimpleName() + " has no value " + wire);
  }

  /** As {@link #parse}, but null stays null. */
  static <E extends Enum<E> & WireName> E parseNullable(Class<E> type, String wire) {
    return wire == null ? null : parse(type, wire);
  }
}

package io.steelyard.usage;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** The members of an event, as they are sent. */
enum EventField {
  CUSTOMER_ID("customerId", true),
  EVENT_NAME("eventName", true),
  GENERATED_AT("generatedAt", true),
  DATA("data", false),
  IDEMPOTENCY_KEY("idempotencyKey", false),
  USER_ID("userId", false);

  static final EventField[] ALL = values();

  private static final int REQUIRED = requiredBits();

  private final String wire;
  private final byte[] ascii;
  private final boolean required;

  EventField(String wire, boolean required) {
    this.wire = wire;
    this.ascii = wire.getBytes(StandardCharsets.US_ASCII);
    this.required = required;
  }

  String wire() {
    return wire;
  }

  boolean isRequired() {
    return required;
  }

  /** This field in a set of them. */
  int bit() {
    return 1 << ordinal();
  }

  static boolean hasRequired(int bits) {
    return (bits & REQUIRED) == REQUIRED;
  }

  /** The field of this name, or null. */
  static EventField named(String name) {
    return switch (name) {
      case "customerId" -> CUSTOMER_ID;
      case "eventName" -> EVENT_NAME;
      case "generatedAt" -> GENERATED_AT;
      case "data" -> DATA;
      case "idempotencyKey" -> IDEMPOTENCY_KEY;
      case "userId" -> USER_ID;
      default -> null;
    };
  }

  /** As {@link #named(String)}; the length tells which it can be. */
  static EventField named(byte[] source, int from, int end) {
    EventField field =
        switch (end - from) {
          case 10 -> CUSTOMER_ID;
          case 9 -> EVENT_NAME;
          case 11 -> GENERATED_AT;
          case 4 -> DATA;
          case 14 -> IDEMPOTENCY_KEY;
          case 6 -> USER_ID;
          default -> null;
        };
    return field != null && Arrays.equals(field.ascii, 0, field.ascii.length, source, from, end)
        ? field
        : null;
  }

  private static int requiredBits() {
    int bits = 0;
    for (EventField field : values()) {
      if (field.required) {
        bits |= field.bit();
      }
    }
    return bits;
  }
}

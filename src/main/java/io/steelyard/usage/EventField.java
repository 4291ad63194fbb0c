package io.steelyard.usage;

import java.nio.charset.StandardCharsets;

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
  private final byte[] quoted;
  private final boolean required;

  EventField(String wire, boolean required) {
    this.wire = wire;
    this.quoted = ('"' + wire + '"').getBytes(StandardCharsets.US_ASCII);
    this.required = required;
  }

  String wire() {
    return wire;
  }

  /** The name as JSON. */
  byte[] quoted() {
    return quoted;
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

  /** The one whose name begins with this letter, or null. */
  static EventField beginning(byte letter) {
    return switch (letter) {
      case 'c' -> CUSTOMER_ID;
      case 'e' -> EVENT_NAME;
      case 'g' -> GENERATED_AT;
      case 'd' -> DATA;
      case 'i' -> IDEMPOTENCY_KEY;
      case 'u' -> USER_ID;
      default -> null;
    };
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

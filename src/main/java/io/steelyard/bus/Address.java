package io.steelyard.bus;

/** Every address on the event bus. */
public enum Address {
  MERCHANT("billing.merchant"),
  CATALOG("billing.catalog"),
  CUSTOMER("billing.customer"),
  SUBSCRIPTION("billing.subscription"),
  INVOICE("billing.invoice"),
  CREDIT("billing.credit"),
  USAGE("billing.usage"),
  EXPLAIN("billing.explain"),
  RETENTION("billing.retention"),
  GATEWAY("billing.gateway"),
  BILLING("billing.clockwork"),
  INTEGRITY("billing.integrity"),
  DELIVERY("billing.delivery");

  /** Broadcast by every node of a cluster: what it answers. Its own address begins with it. */
  static final String NODES = "billing.nodes";

  /** Broadcast when an API key was revoked; the body is the key's id as text. */
  public static final String KEY_REVOKED = "billing.merchant.key-revoked";

  /** Broadcast when a merchant's catalogue changed; the body is the merchant's id as text. */
  public static final String CATALOG_CHANGED = "billing.catalog.changed";

  /** Sent within a process after a flush of events so that the aggregation wakes up; no body. */
  public static final String EVENTS_STORED = "billing.usage.stored";

  /** Broadcast within a process after events were counted: what waits to be stored goes on. */
  public static final String EVENTS_COUNTED = "billing.usage.counted";

  /** Broadcast between the nodes of a cluster: how many events one stores and counts. */
  public static final String EVENTS_TOLD = "billing.usage.told";

  /** Broadcast after work for gateways was written down so that the delivery wakes up; no body. */
  public static final String DELIVERIES_WAITING = "billing.delivery.waiting";

  private final String value;

  Address(String value) {
    this.value = value;
  }

  public String value() {
    return value;
  }
}

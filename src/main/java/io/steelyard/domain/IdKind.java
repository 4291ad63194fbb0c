package io.steelyard.domain;

/** What an {@link Id} identifies, with the prefix that says so. */
public enum IdKind {
  MERCHANT("mer"),
  API_KEY("key"),
  CUSTOMER("cus"),
  SUBSCRIPTION("sub"),
  PLAN("plan"),
  PRICE("price"),
  BILLABLE("bil"),
  CUSTOM_PRICING_UNIT("cpu"),
  INVOICE("inv"),
  LINE_ITEM("li"),
  PLAN_ALLOCATION("alc"),
  ALLOCATION_BLOCK("blk"),
  TRANSACTION("txn"),
  OPERATION("op"),
  ACCESS("acc"),
  EVENT("evt"),
  CHECKOUT_SESSION("cs"),
  TRANSITION("trn");

  private final String prefix;

  IdKind(String prefix) {
    this.prefix = prefix;
  }

  public String prefix() {
    return prefix;
  }
}

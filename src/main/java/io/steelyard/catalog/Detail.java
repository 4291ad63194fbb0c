package io.steelyard.catalog;

/** How much of a plan a view shows. */
public enum Detail {
  /** The plan and its first base price. */
  PLAIN,
  /** Also the other base prices, and the usage prices with their billables. */
  EXPANDED
}

package io.steelyard.domain;

/**
 * What is metered, and how it is called.
 *
 * @param rules null when nothing is metered for it
 */
public record BillableTerms(
    Id id,
    String slug,
    String name,
    String singleUnitLabel,
    String multipleUnitLabel,
    EventRules rules) {}

package io.steelyard.domain;

import java.time.Instant;
import java.util.List;
import java.util.Optional;

/**
 * What is metered, and how it is called.
 *
 * @param versions of its rules, past ones included
 */
public record BillableTerms(
    Id id,
    String slug,
    String name,
    String singleUnitLabel,
    String multipleUnitLabel,
    List<RulesVersion> versions) {
  public BillableTerms {
    versions = List.copyOf(versions);
  }

  /**
   * One version of the rules.
   *
   * @param rules null when nothing is metered by this version
   * @param activeUntil exclusive; null while it is the current version
   */
  public record RulesVersion(EventRules rules, Instant activeFrom, Instant activeUntil) {
    public boolean activeAt(Instant t) {
      return !t.isBefore(activeFrom) && (activeUntil == null || t.isBefore(activeUntil));
    }
  }

  /** The rules that a period which opened then is counted by; empty when nothing is metered. */
  public Optional<EventRules> rulesAt(Instant openedAt) {
    return versions.stream()
        .filter(version -> version.activeAt(openedAt))
        .findFirst()
        .map(RulesVersion::rules);
  }
}

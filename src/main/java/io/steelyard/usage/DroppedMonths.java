package io.steelyard.usage;

import io.steelyard.merchant.MerchantClock;
import java.time.Instant;
import java.util.List;

/** The months whose events were dropped. */
record DroppedMonths(List<Dropped> months) {
  /**
   * @param until exclusive
   * @param at when, by the system's time
   */
  record Dropped(Instant since, Instant until, Instant at) {}

  /**
   * Whether events may be gone that were counted in the period, so that nobody can tell any more
   * which those were. In a period that was opened after the drop only later ones were counted; two
   * processes may have told the time.
   */
  boolean hide(UsagePeriod period) {
    return months.stream()
        .anyMatch(
            month ->
                period.start().isBefore(month.until())
                    && period.end().isAfter(month.since())
                    && !period.openedAt().isAfter(month.at().plus(MerchantClock.SKEW_MAX)));
  }
}

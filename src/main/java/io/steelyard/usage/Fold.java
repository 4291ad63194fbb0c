package io.steelyard.usage;

import io.steelyard.domain.PriceTerms;
import io.steelyard.domain.Quotient;
import io.steelyard.domain.UsageTotal;
import io.steelyard.usage.Matching.Hit;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;

/** Decides what hits do to counters and wallets, over what was loaded of them. */
final class Fold {
  /** A value that a meter has seen. */
  record Unique(Meter.Ref meter, UUID valueHash) {}

  /** A meter and what it has come to. */
  record Reading(Meter meter, UsageTotal total) {
    Quotient quantity() {
      return total.quantity(meter.rules().calculation());
    }

    /** Whether access follows from it: of a subscription's open periods, only one is. */
    boolean isOfNow() {
      UsagePeriod period = meter.period();
      return !period.closed() && period.now().isBefore(period.end());
    }

    boolean leavesAccess() {
      return meter.accessAt(quantity());
    }
  }

  private final Map<Meter.Ref, UsageTotal> loaded;
  private final Set<Unique> unseen;
  private final Wallets wallets;
  private final Map<Meter, UsageTotal.Tally> tallies = new LinkedHashMap<>();
  private Meter lastHit;
  private UsageTotal.Tally lastTally;

  /**
   * @param loaded the counters as they are; a missing one is at zero
   * @param unseen values that no event before these hits had
   */
  Fold(Map<Meter.Ref, UsageTotal> loaded, Set<Unique> unseen, Wallets wallets) {
    this.loaded = loaded;
    this.unseen = new HashSet<>(unseen);
    this.wallets = wallets;
  }

  /** The counters that changed; the wallets note themselves what changed in them. */
  List<Reading> fold(List<Hit> hits) {
    hits.forEach(this::fold);
    List<Reading> readings = new ArrayList<>(tallies.size());
    tallies.forEach((meter, tally) -> readings.add(new Reading(meter, tally.total())));
    return readings;
  }

  /** Whether what was counted gives access, or takes it. */
  boolean changesAccess(Reading after) {
    return new Reading(after.meter(), loaded(after.meter())).leavesAccess() != after.leavesAccess();
  }

  private void fold(Hit hit) {
    Meter meter = hit.meter();
    boolean first =
        hit.valueHash() != null && unseen.remove(new Unique(meter.ref(), hit.valueHash()));
    UsageTotal.Tally tally = tally(meter);
    hit.addTo(tally, first);
    for (PriceTerms price : meter.drawing()) {
      wallets.settle(meter, price, new Reading(meter, tally.total()).quantity(), hit.event());
    }
  }

  private UsageTotal.Tally tally(Meter meter) {
    if (meter != lastHit) { // they come customer by customer
      lastTally = tallies.computeIfAbsent(meter, this::begin);
      lastHit = meter;
    }
    return lastTally;
  }

  private UsageTotal.Tally begin(Meter meter) {
    return new UsageTotal.Tally(loaded(meter));
  }

  private UsageTotal loaded(Meter meter) {
    return loaded.getOrDefault(meter.ref(), UsageTotal.NONE);
  }
}

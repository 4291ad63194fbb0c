package io.steelyard.usage;

import io.steelyard.domain.EventFacts;
import io.steelyard.domain.EventRules;
import io.steelyard.domain.UsageTotal;
import io.steelyard.usage.Fold.Unique;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;

/** Which events count on which meters, and with what. */
final class Matching {
  /**
   * An event on one meter.
   *
   * @param number null for count and uniqueCount
   * @param valueHash 128 bits of the value that uniqueCount tells apart, else null
   */
  record Hit(StoredEvent event, Meter meter, BigDecimal number, UUID valueHash) {
    /**
     * @param first whether no event before it had its value
     */
    void addTo(UsageTotal.Tally tally, boolean first) {
      tally.add(number, event.generatedAt(), event.key(), first);
    }
  }

  /**
   * A meter with the times of the events that it takes, in milliseconds since 1970: each event is
   * held against them.
   *
   * @param until exclusive
   */
  private record Window(Meter meter, UUID merchantId, long from, long until) {
    static Window of(Meter meter) {
      UsagePeriod period = meter.period();
      return new Window(
          meter, period.merchantId(), millis(period.countsFrom()), millis(period.countsUntil()));
    }

    /** The first that is not before it. */
    private static long millis(Instant instant) {
      long millis = instant.toEpochMilli();
      return Instant.ofEpochMilli(millis).isBefore(instant) ? millis + 1 : millis;
    }

    boolean takes(StoredEvent event) {
      long at = event.atMillis();
      return at >= from && at < until && event.merchantId().equals(merchantId);
    }
  }

  private final Map<UUID, List<Window>> windowsByCustomer = new HashMap<>();
  private final List<Hit> hits = new ArrayList<>();
  private final List<Hit> late = new ArrayList<>();
  private final Set<Meter> metersHit = new HashSet<>();
  private final Set<Unique> uniques = new HashSet<>();
  private final Map<String, Integer> unratable = new HashMap<>();
  private final MessageDigest sha256;
  private UUID customerId; // of the last event
  private List<Window> windowsOfCustomer = List.of();
  private Meter lastHit;

  private Matching(List<Meter> meters) {
    for (Meter meter : meters) {
      windowsByCustomer
          .computeIfAbsent(meter.period().customerId(), id -> new ArrayList<>())
          .add(Window.of(meter));
    }
    try {
      sha256 = MessageDigest.getInstance("SHA-256");
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JDK has it", e);
    }
  }

  static Matching of(List<StoredEvent> events, List<Meter> meters) {
    return ofOrdered(events.stream().sorted(StoredEvent.IN_ORDER).toList(), meters);
  }

  /**
   * @param events each customer's in their order
   */
  static Matching ofOrdered(List<StoredEvent> events, List<Meter> meters) {
    Matching matching = new Matching(meters);
    events.forEach(matching::match);
    return matching;
  }

  /** In the order of the events. */
  List<Hit> hits() {
    return hits;
  }

  /** Those in periods that are closed, in the order of the events. */
  List<Hit> late() {
    return late;
  }

  /** The values that meters tell apart. */
  Set<Unique> uniques() {
    return uniques;
  }

  /** Those that any of the hits is on. */
  Set<Meter> meters() {
    return metersHit;
  }

  /** How many events matched and had nothing to count, by reason. */
  Map<String, Integer> unratable() {
    return unratable;
  }

  private void match(StoredEvent event) {
    EventFacts facts = null;
    if (!event.customerId().equals(customerId)) {
      customerId = event.customerId();
      windowsOfCustomer = windowsByCustomer.getOrDefault(customerId, List.of());
    }
    for (Window window : windowsOfCustomer) {
      if (window.takes(event)) {
        facts = facts == null ? event.facts() : facts;
        if (window.meter().rules().matches(facts)) {
          hit(event, facts, window.meter());
        }
      }
    }
  }

  private void hit(StoredEvent event, EventFacts facts, Meter meter) {
    EventRules rules = meter.rules();
    switch (rules.calculation()) {
      case COUNT -> add(new Hit(event, meter, null, null));
      case UNIQUE_COUNT -> {
        Optional<String> text = rules.text(facts);
        if (text.isPresent()) {
          add(new Hit(event, meter, null, hash(text.get())));
        } else {
          unratable(facts, rules, "no_text");
        }
      }
      case SUM, MAX, MIN, AVERAGE, LATEST -> {
        Optional<BigDecimal> number = rules.number(facts);
        if (number.isPresent()) {
          add(new Hit(event, meter, number.get(), null));
        } else {
          unratable(facts, rules, "not_numeric");
        }
      }
    }
  }

  private void add(Hit hit) {
    Meter meter = hit.meter();
    hits.add(hit);
    if (meter != lastHit) {
      metersHit.add(meter);
      lastHit = meter;
    }
    if (hit.valueHash() != null) {
      uniques.add(new Unique(meter.ref(), hit.valueHash()));
    }
    if (meter.period().closed()) {
      late.add(hit);
    }
  }

  private void unratable(EventFacts facts, EventRules rules, String otherwise) {
    boolean missing =
        rules.overProperty() == null || facts.property(rules.overProperty()).isEmpty();
    unratable.merge(missing ? "missing" : otherwise, 1, Integer::sum);
  }

  private UUID hash(String value) {
    ByteBuffer hash = ByteBuffer.wrap(sha256.digest(value.getBytes(StandardCharsets.UTF_8)));
    return new UUID(hash.getLong(), hash.getLong());
  }
}

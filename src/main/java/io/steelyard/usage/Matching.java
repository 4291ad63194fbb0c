package io.steelyard.usage;

import io.steelyard.domain.EventFacts;
import io.steelyard.domain.EventRules;
import io.steelyard.domain.UsageTotal;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
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

  private final Map<UUID, List<Meter>> metersByCustomer = new HashMap<>();
  private final List<Hit> hits = new ArrayList<>();
  private final Set<Meter> metersHit = new HashSet<>();
  private final Map<String, Integer> unratable = new HashMap<>();
  private final MessageDigest sha256;
  private UUID customerId; // of the last event
  private List<Meter> metersOfCustomer = List.of();

  private Matching(List<Meter> meters) {
    for (Meter meter : meters) {
      metersByCustomer
          .computeIfAbsent(meter.period().customerId(), id -> new ArrayList<>())
          .add(meter);
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
      metersOfCustomer = metersByCustomer.getOrDefault(customerId, List.of());
    }
    for (Meter meter : metersOfCustomer) {
      if (meter.period().takes(event)) {
        facts = facts == null ? event.facts() : facts;
        if (meter.rules().matches(facts)) {
          hit(event, facts, meter);
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
    hits.add(hit);
    metersHit.add(hit.meter());
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

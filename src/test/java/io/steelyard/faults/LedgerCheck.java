package io.steelyard.faults;

import io.steelyard.db.Endpoint;
import io.steelyard.faults.Ledger.Entry;
import io.steelyard.faults.Ledger.Outcome;
import io.steelyard.faults.Ledger.Sent;
import io.steelyard.support.Tables;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;

/**
 * Holds what a {@link Ledger} says against what is in the database, key by key: a sum hides one
 * that is lost beside one that is double. Acknowledged is stored once and counted once, refused is
 * not there, unknown is there once or not at all.
 *
 * <p>That an event was counted is seen by its key too: it is the value of {@code data.id}, which a
 * billable tells apart. As each key is among that billable's values, and it counted as many events
 * as there are keys, each counted once.
 */
final class LedgerCheck {
  private static final String STORED =
      """
      SELECT concat_ws(' ', key, (extract(epoch FROM generated_at) * 1000)::bigint,
                       data::json ->> 'count', name, customer_id)
        FROM event WHERE merchant_id = '%s'
      """;

  private static final String KEYS =
      """
      SELECT k.key FROM event_key k JOIN merchant m ON m.number = k.merchant_number
       WHERE m.id = '%s'
      """;

  private static final String COUNTED_IDS =
      """
      SELECT u.value_hash FROM usage_unique u JOIN billable b ON b.id = u.billable_id
       WHERE u.merchant_id = '%s' AND b.slug = 'ids'
      """;

  private static final String COUNTERS =
      """
      SELECT concat_ws(' ', s.customer_id, b.slug, sum(c.events), trim_scale(sum(c.sum)))
        FROM usage_counter c
        JOIN subscription s ON s.id = c.subscription_id
        JOIN billable b ON b.id = c.billable_id
       WHERE c.merchant_id = '%s' AND c.events > 0
       GROUP BY s.customer_id, b.slug
      """;

  private final Endpoint database;
  private final UUID merchant;
  private final List<UUID> customers;
  private final Map<UUID, Entry> ledger;
  private final List<String> faults = new ArrayList<>();

  /** Events and the sum of what they count, of one customer under one billable. */
  private record Amount(long events, long sum) {
    Amount plus(long count) {
      return new Amount(events + 1, sum + count);
    }
  }

  private LedgerCheck(
      Endpoint database, UUID merchant, List<UUID> customers, Map<UUID, Entry> ledger) {
    this.database = database;
    this.merchant = merchant;
    this.customers = customers;
    this.ledger = ledger;
  }

  /** What is wrong, each with the key or counter that it is about; nothing may be under way. */
  static List<String> faults(
      Endpoint database, UUID merchant, List<UUID> customers, Map<UUID, Entry> ledger) {
    LedgerCheck check = new LedgerCheck(database, merchant, customers, ledger);
    check.run();
    return check.faults;
  }

  private void run() {
    Map<UUID, Sent> stored = checkStored();
    checkKeys(stored.keySet());
    checkCountedIds(stored.keySet());
    Map<String, Amount> ofStored = amounts(stored.values());
    compare("recomputed from what is stored", ofStored, counters());
    if (ledger.values().stream().noneMatch(entry -> entry.outcome() == Outcome.UNKNOWN)) {
      compare("recomputed from what was acknowledged", amounts(acknowledged()), counters());
    }
  }

  private List<String> query(String sql) {
    return Tables.query(database, sql.formatted(merchant));
  }

  private List<Sent> acknowledged() {
    return ledger.values().stream()
        .filter(entry -> entry.outcome() == Outcome.ACKED)
        .map(Entry::event)
        .toList();
  }

  private Map<UUID, Sent> checkStored() {
    Map<UUID, Integer> numbers = new HashMap<>();
    customers.forEach(customer -> numbers.put(customer, numbers.size()));
    Map<UUID, Sent> stored = new HashMap<>();
    for (String row : query(STORED)) {
      String[] parts = row.split(" ");
      UUID key = UUID.fromString(parts[0]);
      Sent event =
          new Sent(
              key,
              numbers.getOrDefault(UUID.fromString(parts[4]), -1),
              parts[3],
              Integer.parseInt(parts[2]),
              Long.parseLong(parts[1]));
      if (stored.put(key, event) != null) {
        faults.add("stored twice: " + key);
      }
      checkAgainstLedger(event);
    }
    for (Sent event : acknowledged()) {
      if (!stored.containsKey(event.key())) {
        faults.add("acknowledged and lost: " + event.key());
      }
    }
    return stored;
  }

  private void checkAgainstLedger(Sent event) {
    Entry entry = ledger.get(event.key());
    if (entry == null) {
      faults.add("stored and never sent: " + event.key());
    } else if (entry.outcome() == Outcome.REFUSED) {
      faults.add("refused and stored: " + event.key());
    } else if (!entry.event().equals(event)) {
      faults.add("stored otherwise than sent: " + event.key());
    }
  }

  private void checkKeys(Set<UUID> stored) {
    Set<UUID> keys = new HashSet<>();
    query(KEYS).forEach(key -> keys.add(UUID.fromString(key)));
    report(stored, keys, "stored, and its key is not known: ");
    report(keys, stored, "its key is known, but it is not stored: ");
  }

  private void checkCountedIds(Set<UUID> stored) {
    Map<UUID, UUID> byHash = new HashMap<>();
    stored.forEach(key -> byHash.put(hash(key.toString()), key));
    Set<UUID> counted = new HashSet<>();
    query(COUNTED_IDS).forEach(hash -> counted.add(UUID.fromString(hash)));
    byHash.forEach(
        (hash, key) -> {
          if (!counted.contains(hash)) {
            faults.add("stored and not counted: " + key);
          }
        });
    report(counted, byHash.keySet(), "counted and not stored: the key with the hash ");
  }

  private void report(Set<UUID> of, Set<UUID> missingIn, String fault) {
    of.stream().filter(each -> !missingIn.contains(each)).forEach(each -> faults.add(fault + each));
  }

  private static UUID hash(String value) {
    try {
      ByteBuffer hash =
          ByteBuffer.wrap(
              MessageDigest.getInstance("SHA-256").digest(value.getBytes(StandardCharsets.UTF_8)));
      return new UUID(hash.getLong(), hash.getLong());
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }

  /** By customer and billable; {@code ids} has no sum. */
  private Map<String, Amount> amounts(Iterable<Sent> events) {
    Map<String, Amount> amounts = new TreeMap<>();
    for (Sent event : events) {
      if (event.customer() >= 0) {
        UUID customer = customers.get(event.customer());
        add(amounts, customer + " " + event.name(), event.count());
        add(amounts, customer + " ids", 0);
      }
    }
    return amounts;
  }

  private static void add(Map<String, Amount> amounts, String counter, long count) {
    amounts.merge(counter, new Amount(1, count), (before, one) -> before.plus(one.sum()));
  }

  private Map<String, Amount> counters() {
    Map<String, Amount> counters = new TreeMap<>();
    for (String row : query(COUNTERS)) {
      String[] parts = row.split(" ");
      counters.put(
          parts[0] + " " + parts[1],
          new Amount(Long.parseLong(parts[2]), Long.parseLong(parts[3])));
    }
    return counters;
  }

  private void compare(String how, Map<String, Amount> expected, Map<String, Amount> counters) {
    Set<String> all = new HashSet<>(expected.keySet());
    all.addAll(counters.keySet());
    Amount none = new Amount(0, 0);
    for (String counter : all) {
      Amount should = expected.getOrDefault(counter, none);
      Amount is = counters.getOrDefault(counter, none);
      if (!should.equals(is)) {
        faults.add("counter %s: %s, %s %s".formatted(counter, is, how, should));
      }
    }
  }
}

package io.steelyard.usage;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.usage.Flush.Entry;
import io.steelyard.usage.Flush.Pending;
import io.steelyard.usage.Flush.Share;
import io.steelyard.usage.UsageMessages.Ingested;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

/** However keys lie across the requests and merchants of a flush, each is stored and told once. */
class FlushTest {
  private static final int MERCHANTS = 3;

  /** Signed and unsigned order differ among them. */
  private static final List<UUID> KEYS =
      List.of(
          new UUID(0, 0),
          new UUID(-1, -1),
          new UUID(1, Long.MIN_VALUE),
          new UUID(1, Long.MAX_VALUE),
          new UUID(Long.MIN_VALUE, 0),
          new UUID(Long.MAX_VALUE, -1),
          new UUID(1, 0));

  private record Key(int merchant, UUID key) {}

  private record Sent(int merchant, List<UUID> keys) {}

  @Provide
  Arbitrary<List<Sent>> requests() {
    return Combinators.combine(
            Arbitraries.integers().between(0, MERCHANTS - 1),
            Arbitraries.of(KEYS).list().ofMinSize(1).ofMaxSize(12))
        .as(Sent::new)
        .list()
        .ofMinSize(1)
        .ofMaxSize(15);
  }

  private static UUID merchant(int number) {
    return new UUID(9, number);
  }

  /** The name of an event tells its request and its place there. */
  private static Flush flush(List<Sent> requests) {
    List<Pending> pending = new ArrayList<>();
    for (int r = 0; r < requests.size(); r++) {
      Sent sent = requests.get(r);
      List<UsageEvent> events = new ArrayList<>();
      for (int i = 0; i < sent.keys().size(); i++) {
        events.add(
            new UsageEvent(
                sent.keys().get(i),
                100 * r + i,
                new UUID(3, 3),
                null,
                r + "/" + i,
                Instant.EPOCH,
                null,
                null));
      }
      // Numbers in another order than ids.
      pending.add(
          new Pending(
              merchant(sent.merchant()), MERCHANTS - sent.merchant(), UsageEvent.encoded(events)));
    }
    return new Flush(pending);
  }

  private static Set<Key> keys(List<Sent> requests) {
    Set<Key> keys = new HashSet<>();
    requests.forEach(
        sent -> sent.keys().forEach(key -> keys.add(new Key(MERCHANTS - sent.merchant(), key))));
    return keys;
  }

  @Property
  void entriesAreSortedAndNoneComesTwice(@ForAll("requests") List<Sent> requests) {
    List<Entry> entries = flush(requests).entries();

    assertThat(entries)
        .extracting(entry -> new Key(entry.merchantNumber(), entry.key()))
        .doesNotHaveDuplicates()
        .containsExactlyInAnyOrderElementsOf(keys(requests));
    for (int i = 1; i < entries.size(); i++) {
      assertThat(inBytes(entries.get(i))).isGreaterThan(inBytes(entries.get(i - 1)));
    }
  }

  /** As PostgreSQL compares the columns. */
  private static String inBytes(Entry entry) {
    return "%08x %s".formatted(entry.merchantNumber(), entry.key());
  }

  @Property
  void outcomesAddUpWhateverWasKnown(
      @ForAll("requests") List<Sent> requests, @ForAll Set<Integer> chosen) {
    Flush flush = flush(requests);
    List<Entry> known = new ArrayList<>();
    for (int i = 0; i < flush.entries().size(); i++) {
      if (chosen.contains(i)) {
        known.add(flush.entries().get(i));
      }
    }

    List<Ingested> outcomes = flush.outcomes(known);

    // By hand: the first of a key is accepted unless it was known, all others are duplicates.
    Set<Key> seen = new HashSet<>();
    known.forEach(entry -> seen.add(new Key(entry.merchantNumber(), entry.key())));
    List<Ingested> expected = new ArrayList<>();
    for (Sent sent : requests) {
      int accepted = 0;
      for (UUID key : sent.keys()) {
        accepted += seen.add(new Key(MERCHANTS - sent.merchant(), key)) ? 1 : 0;
      }
      expected.add(new Ingested(accepted, sent.keys().size() - accepted));
    }
    assertThat(outcomes).isEqualTo(expected);
  }

  @Property
  void sharesHoldEachMerchantsEventsInTheirOrder(@ForAll("requests") List<Sent> requests) {
    Flush flush = flush(requests);
    Map<UUID, List<String>> names = new HashMap<>();
    for (int r = 0; r < requests.size(); r++) {
      for (int i = 0; i < requests.get(r).keys().size(); i++) {
        names
            .computeIfAbsent(merchant(requests.get(r).merchant()), id -> new ArrayList<>())
            .add(r + "/" + i);
      }
    }

    assertThat(flush.shares())
        .extracting(Share::merchantId)
        .containsExactlyInAnyOrderElementsOf(names.keySet());
    for (Share share : flush.shares()) {
      List<StoredEvent> all = EventContent.ofBatch(share.merchantId(), bytes(share), null);
      assertThat(all).extracting(StoredEvent::name).isEqualTo(names.get(share.merchantId()));
      assertThat(share.count()).isEqualTo(all.size());
      assertThat(share.requests().stream().flatMap(FlushTest::names))
          .containsExactlyElementsOf(names.get(share.merchantId()));
      List<StoredEvent> firsts =
          EventContent.ofBatch(
              share.merchantId(), bytes(share), share.repeats().toArray(Integer[]::new));
      assertThat(firsts).extracting(StoredEvent::key).doesNotHaveDuplicates();
      assertThat(firsts).hasSize(share.count() - share.repeats().size());
      assertThat(namesAt(flush, share, all)).containsExactlyInAnyOrderElementsOf(names(firsts));
    }
    assertThat(flush.repeats().size() + flush.entries().size())
        .isEqualTo(names.values().stream().mapToInt(List::size).sum());
  }

  private static Stream<String> names(EncodedEvents events) {
    return IntStream.range(0, events.count()).mapToObj(events.columns()::name);
  }

  private static byte[] bytes(Share share) {
    return share.content().getBytes();
  }

  private static List<String> names(List<StoredEvent> elements) {
    return elements.stream().map(StoredEvent::name).toList();
  }

  /** What the positions of the entries lead to; each with its own key. */
  private static List<String> namesAt(Flush flush, Share share, List<StoredEvent> all) {
    List<String> names = new ArrayList<>();
    for (Entry entry : flush.entries()) {
      if (entry.merchantNumber() == share.merchantNumber()) {
        StoredEvent event = all.get(entry.position() - 1);
        assertThat(event.key()).isEqualTo(entry.key());
        assertThat(event.name()).startsWith(entry.request() + "/");
        names.add(event.name());
      }
    }
    return names;
  }
}

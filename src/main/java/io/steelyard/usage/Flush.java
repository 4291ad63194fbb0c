package io.steelyard.usage;

import io.steelyard.bus.Origin;
import io.steelyard.usage.UsageMessages.Ingested;
import io.vertx.core.Promise;
import io.vertx.core.buffer.Buffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/** The requests that share one statement, and what of their events it has to store. */
final class Flush {
  /**
   * A request that waits for its answer.
   *
   * @param merchantNumber what its keys are stored under
   * @param bytes that it takes of memory, roughly
   */
  record Pending(
      UUID merchantId,
      int merchantNumber,
      EncodedEvents events,
      long bytes,
      Origin origin,
      Promise<Ingested> answer) {
    Pending(UUID merchantId, int merchantNumber, EncodedEvents events) {
      this(merchantId, merchantNumber, events, events.bytes(), Origin.here(), Promise.promise());
    }

    int count() {
      return events.count();
    }
  }

  /**
   * An event in its request.
   *
   * @param position among the events of its merchant's share, from 1
   */
  record Entry(
      int merchantNumber, long keyHigh, long keyLow, int payloadHash, int request, int position)
      implements Comparable<Entry> {
    UUID key() {
      return new UUID(keyHigh, keyLow);
    }

    boolean isSameKey(Entry other) {
      return merchantNumber == other.merchantNumber
          && keyHigh == other.keyHigh
          && keyLow == other.keyLow;
    }

    /** As PostgreSQL orders keys, which is unsigned; of one key what came first. */
    @Override
    public int compareTo(Entry other) {
      int order = Integer.compare(merchantNumber, other.merchantNumber);
      if (order == 0) {
        order = Long.compareUnsigned(keyHigh, other.keyHigh);
      }
      if (order == 0) {
        order = Long.compareUnsigned(keyLow, other.keyLow);
      }
      return order == 0 ? Integer.compare(position, other.position) : order;
    }
  }

  /**
   * What one merchant has in a flush.
   *
   * @param requests their events, one behind the other, are the content
   * @param repeats positions, from 1, of events that come again within the flush
   */
  record Share(
      UUID merchantId,
      int merchantNumber,
      List<EncodedEvents> requests,
      int count,
      Buffer content,
      List<Integer> repeats) {}

  private static final class Collected {
    private final int merchantNumber;
    private final Buffer content;
    private final List<EncodedEvents> requests = new ArrayList<>();
    private final List<Integer> repeats = new ArrayList<>();
    private int count;

    /**
     * @param bytesExpected of content; it may be more
     */
    private Collected(int merchantNumber, int bytesExpected) {
      this.merchantNumber = merchantNumber;
      this.content = Buffer.buffer(bytesExpected).appendByte((byte) '[');
    }

    private Share share(UUID merchantId) {
      content.setByte(content.length() - 1, (byte) ']'); // in place of the last comma
      return new Share(merchantId, merchantNumber, requests, count, content, repeats);
    }
  }

  private final List<Pending> requests;
  private final Map<UUID, Collected> collected = new LinkedHashMap<>();
  private final List<Entry> firsts;
  private final List<Entry> repeats = new ArrayList<>();
  private final List<Share> shares = new ArrayList<>();

  Flush(List<Pending> requests) {
    this.requests = requests;
    int contentBytes = 1 + requests.stream().mapToInt(each -> each.events().contentBytes()).sum();
    Entry[] entries = new Entry[requests.stream().mapToInt(Pending::count).sum()];
    int merchants = (int) requests.stream().map(Pending::merchantId).distinct().count();
    int at = 0;
    for (int request = 0; request < requests.size(); request++) {
      Pending pending = requests.get(request);
      Collected share =
          collected.computeIfAbsent(
              pending.merchantId(),
              id -> new Collected(pending.merchantNumber(), contentBytes / merchants));
      EncodedEvents events = pending.events();
      for (int i = 0; i < events.count(); i++) {
        entries[at++] =
            new Entry(
                pending.merchantNumber(),
                events.columns().keyHigh(i),
                events.columns().keyLow(i),
                events.payloadHashes()[i],
                request,
                ++share.count);
      }
      share.requests.add(events);
      share.content.appendBytes(events.columns().content());
    }
    // In one order for all flushes, so that two with keys in common wait for each other and never
    // deadlock; and neighbours in the index are written one after the other.
    Arrays.sort(entries);
    firsts = withoutRepeats(entries);
    collected.forEach((merchantId, share) -> shares.add(share.share(merchantId)));
  }

  private List<Entry> withoutRepeats(Entry[] entries) {
    List<Entry> different = new ArrayList<>(entries.length);
    Entry last = null;
    for (Entry entry : entries) {
      if (last != null && last.isSameKey(entry)) {
        repeats.add(entry);
        collected.get(requests.get(entry.request()).merchantId()).repeats.add(entry.position());
      } else {
        different.add(entry);
        last = entry;
      }
    }
    return different;
  }

  List<Pending> requests() {
    return requests;
  }

  /** Every key once, in their order. */
  List<Entry> entries() {
    return firsts;
  }

  List<Share> shares() {
    return shares;
  }

  /**
   * What each request is told, in the order of {@link #requests}.
   *
   * @param known the entries whose keys had been stored before
   */
  List<Ingested> outcomes(List<Entry> known) {
    int[] duplicates = new int[requests.size()];
    known.forEach(entry -> duplicates[entry.request()]++);
    repeats.forEach(entry -> duplicates[entry.request()]++);
    List<Ingested> outcomes = new ArrayList<>(duplicates.length);
    for (int i = 0; i < duplicates.length; i++) {
      outcomes.add(new Ingested(requests.get(i).count() - duplicates[i], duplicates[i]));
    }
    return outcomes;
  }

  /** Repetitions within this flush, each behind the one that came first. */
  List<Entry> repeats() {
    return repeats;
  }
}

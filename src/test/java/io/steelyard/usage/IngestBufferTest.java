package io.steelyard.usage;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.steelyard.bus.Failure;
import io.steelyard.bus.SharedGauge;
import io.steelyard.config.Config;
import io.steelyard.usage.Flush.Entry;
import io.steelyard.usage.UsageMessages.Ingested;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** When which requests are flushed, step by step: what stores them ends when it is told to. */
class IngestBufferTest {
  private static final UUID BIG = new UUID(0, 1);
  private static final UUID OTHER = new UUID(0, 2);
  private static final UUID THIRD = new UUID(0, 3);

  /**
   * More than 20 events or 10,000 bytes are much, more than 5 or 2,500 of a merchant not little.
   */
  private static final int EVENTS_MAX = 100;

  private static final int BYTES_MAX = 50_000;
  private static final int BACKLOG_MAX = 100;
  private static final int SMALL_EVENT = 10;

  private final Vertx vertx = Vertx.vertx();
  private final List<Stored> stored = new ArrayList<>();
  private int backlog;

  private record Stored(Flush flush, Promise<List<Entry>> end) {
    private List<UUID> merchants() {
      return flush.shares().stream().map(Flush.Share::merchantId).toList();
    }

    private int events() {
      return flush.entries().size();
    }
  }

  private final class Steps implements IngestBuffer.Surroundings {
    @Override
    public Future<List<Entry>> store(Flush flush) {
      Stored begun = new Stored(flush, Promise.promise());
      stored.add(begun);
      return begun.end().future();
    }

    @Override
    public Future<Long> countConflicts(List<Entry> duplicates) {
      return Future.succeededFuture(0L);
    }

    @Override
    public void stored(int events) {
      backlog += events;
    }

    @Override
    public boolean holdsBack(int backlogEventsMax) {
      return backlog > backlogEventsMax;
    }
  }

  @AfterEach
  void close() {
    vertx.close();
  }

  private IngestBuffer buffer(int flushesInFlight) {
    SimpleMeterRegistry metrics = new SimpleMeterRegistry();
    return new IngestBuffer(
        new Config.Ingest(
            EVENTS_MAX, BYTES_MAX, flushesInFlight, 100_000, 1L << 30, 100, BACKLOG_MAX),
        new Steps(),
        error -> new Failure.Unexpected(),
        new IngestMetrics(metrics),
        SharedGauge.of(vertx, metrics, "events", ""),
        SharedGauge.of(vertx, metrics, "bytes", ""));
  }

  private static Future<Ingested> add(IngestBuffer buffer, UUID merchant, int events, int bytes) {
    EventColumns.Builder columns = new EventColumns.Builder(events);
    for (int i = 0; i < events; i++) {
      UUID key = UUID.randomUUID();
      columns.add(null, key.getMostSignificantBits(), key.getLeastSignificantBits(), 0, "e", null);
    }
    return buffer.add(
        merchant,
        (int) merchant.getLeastSignificantBits(),
        new EncodedEvents(columns.build(new byte[events * bytes]), new int[events]));
  }

  private void end(int flush) {
    stored.get(flush).end().complete(List.of());
  }

  /** What began with the last step. */
  private Stored last() {
    return stored.getLast();
  }

  @Test
  void whatComesWhileAFlushIsUnderWayGoesTogetherIntoTheNext() {
    IngestBuffer buffer = buffer(1);
    Future<Ingested> first = add(buffer, BIG, 1, SMALL_EVENT);
    add(buffer, OTHER, 2, SMALL_EVENT);
    Future<Ingested> last = add(buffer, BIG, 3, SMALL_EVENT);
    assertThat(stored).hasSize(1);

    end(0);
    assertThat(first.result()).isEqualTo(new Ingested(1, 0));
    assertThat(stored).hasSize(2);
    assertThat(last().events()).isEqualTo(5);
    assertThat(last.isComplete()).isFalse();
    end(1);
    assertThat(last.result()).isEqualTo(new Ingested(3, 0));
  }

  @Test
  void whoHasLittleIsStoredBesideMuch() {
    IngestBuffer buffer = buffer(1);
    add(buffer, BIG, 50, SMALL_EVENT);
    Future<Ingested> little = add(buffer, OTHER, 1, SMALL_EVENT);
    assertThat(stored).hasSize(2);
    add(buffer, OTHER, 1, SMALL_EVENT);
    add(buffer, THIRD, 2, SMALL_EVENT);
    add(buffer, BIG, 1, SMALL_EVENT);
    assertThat(stored).as("one small one at a time").hasSize(2);

    end(1);
    assertThat(little.succeeded()).isTrue();
    assertThat(stored).hasSize(3);
    assertThat(last().merchants()).containsExactly(OTHER, THIRD);
    end(0);
    assertThat(last().merchants()).as("not little, with what was under way").containsExactly(BIG);
  }

  @Test
  void whoHasLittleLeavesTheNextLargeFlushToOthers() {
    IngestBuffer buffer = buffer(1);
    add(buffer, BIG, 1, SMALL_EVENT);
    add(buffer, OTHER, 1, SMALL_EVENT);
    add(buffer, BIG, 50, SMALL_EVENT);

    end(0);
    assertThat(stored).hasSize(3);
    assertThat(stored.get(1).merchants()).containsExactly(BIG);
    assertThat(stored.get(2).merchants()).containsExactly(OTHER);
  }

  @Test
  void muchIsToldByBytesToo() {
    IngestBuffer buffer = buffer(1);
    add(buffer, BIG, 1, SMALL_EVENT);
    for (int i = 0; i < 30; i++) {
      add(buffer, BIG, 1, BYTES_MAX / 10);
    }
    Future<Ingested> little = add(buffer, OTHER, 1, SMALL_EVENT);

    end(0);
    assertThat(stored).hasSize(3);
    assertThat(stored.get(1).events()).as("cut by its bytes").isLessThan(20);
    assertThat(last().merchants()).containsExactly(OTHER);
    end(2);
    assertThat(little.succeeded()).isTrue();
  }

  @Test
  void aCrowdOfThoseWhoHaveLittleGoesTogether() {
    IngestBuffer buffer = buffer(1);
    add(buffer, BIG, 1, SMALL_EVENT);
    for (int i = 0; i < 30; i++) {
      add(buffer, new UUID(7, i), 3, SMALL_EVENT);
    }
    end(0);
    assertThat(last().events()).isEqualTo(90);
    add(buffer, OTHER, 1, SMALL_EVENT);
    assertThat(stored).as("nobody floods").hasSize(2);
  }

  @Test
  void aCrowdTooLargeForASmallFlushTakesItsTurnsWithMuch() {
    IngestBuffer buffer = buffer(1);
    add(buffer, BIG, 1, SMALL_EVENT);
    add(buffer, BIG, 50, SMALL_EVENT);
    for (int i = 0; i < 10; i++) {
      add(buffer, new UUID(7, i), 3, SMALL_EVENT);
    }
    end(0);
    assertThat(stored.get(1).merchants()).hasSize(11).contains(BIG);
  }

  @Test
  void whoHasLittleIsHeldBackLater() {
    IngestBuffer buffer = buffer(1);
    backlog = BACKLOG_MAX + 1;
    add(buffer, BIG, 50, SMALL_EVENT);
    add(buffer, OTHER, 1, SMALL_EVENT);
    assertThat(stored).hasSize(1);
    assertThat(last().merchants()).containsExactly(OTHER);

    backlog = BACKLOG_MAX + BACKLOG_MAX / 10;
    end(0);
    add(buffer, OTHER, 1, SMALL_EVENT);
    assertThat(stored).hasSize(1);

    backlog = BACKLOG_MAX;
    buffer.goOn();
    assertThat(stored).hasSize(3);
    assertThat(stored.get(1).merchants()).containsExactly(BIG);
    assertThat(stored.get(2).merchants()).containsExactly(OTHER);
  }

  @Test
  void aFlushThatFailsFreesItsPlace() {
    IngestBuffer buffer = buffer(1);
    Future<Ingested> much = add(buffer, BIG, 50, SMALL_EVENT);
    Future<Ingested> little = add(buffer, OTHER, 1, SMALL_EVENT);
    stored.get(0).end().fail("gone");
    stored.get(1).end().fail("gone");
    assertThat(much.failed()).isTrue();
    assertThat(little.failed()).isTrue();

    add(buffer, BIG, 50, SMALL_EVENT);
    add(buffer, OTHER, 1, SMALL_EVENT);
    assertThat(stored).hasSize(4);
    Future<Void> drained = buffer.drain();
    end(2);
    assertThat(drained.isComplete()).isFalse();
    end(3);
    assertThat(drained.isComplete()).isTrue();
  }

  @Test
  void twoLargeOnesAndASmallOneMayBeUnderWay() {
    IngestBuffer buffer = buffer(2);
    add(buffer, BIG, 50, SMALL_EVENT);
    add(buffer, BIG, 50, SMALL_EVENT);
    add(buffer, BIG, 50, SMALL_EVENT);
    add(buffer, OTHER, 1, SMALL_EVENT);
    assertThat(stored).hasSize(3);
    assertThat(last().merchants()).containsExactly(OTHER);
    end(0);
    end(1);
    end(2);
    assertThat(stored).hasSize(4);
    end(3);
    assertThat(buffer.drain().isComplete()).isTrue();
  }
}

package io.steelyard.usage;

import static io.steelyard.usage.UsageFixture.MARCH;
import static io.steelyard.usage.UsageFixture.await;
import static io.steelyard.usage.UsageFixture.event;
import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.config.Config;
import io.steelyard.support.Merchant;
import io.steelyard.support.TableLock;
import io.steelyard.support.Tables;
import io.steelyard.usage.UsageMessages.Ingested;
import io.vertx.core.Future;
import java.sql.Connection;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Those who send little do not wait for one who sends much. */
class BesideIT {
  private static final int MUCH = 50;
  private static final int BACKLOG_MAX = 1000;

  /** More than 20 events are a large flush, more than 5 of a merchant much. */
  private static final Config.Ingest CONFIG =
      new Config.Ingest(100, 1 << 20, 1, 50_000, 1 << 26, 100, BACKLOG_MAX);

  private static Future<Ingested> ingest(UsageFixture usage, UUID... keys) {
    List<UsageEvent> events = new ArrayList<>();
    for (UUID key : keys) {
      events.add(event(key, UUID.randomUUID(), "a", MARCH, null));
    }
    return usage.ingest(usage.merchant, events);
  }

  private static void awaitBuffered(UsageFixture usage, double events) throws Exception {
    assertThat(
            Merchant.eventually(
                () -> usage.metrics.get("steelyard.ingest.buffered").gauge().value(),
                is -> is == events))
        .isEqualTo(events);
  }

  private static UUID[] keys(int count) {
    return Stream.generate(UUID::randomUUID).limit(count).toArray(UUID[]::new);
  }

  /** Whoever stores that key waits until the connection is done with it. */
  private static Connection holding(UsageFixture usage, UUID key) throws Exception {
    Connection connection = Tables.connect(usage.endpoint);
    connection.setAutoCommit(false);
    connection
        .createStatement()
        .execute(
            """
            INSERT INTO event_key (merchant_number, payload_hash, key)
            SELECT number, 0, '%s' FROM merchant WHERE id = '%s'
            """
                .formatted(key, usage.merchant));
    return connection;
  }

  @Test
  void whatIsLittleIsStoredWhileALargeFlushOfAnotherWaits() throws Exception {
    try (UsageFixture flooding = new UsageFixture()) {
      UsageFixture other = flooding.neighbour();
      flooding.ingestion(CONFIG);
      await(ingest(flooding, keys(1)));
      await(ingest(other, keys(1)));
      UUID[] keys = keys(MUCH);
      try (Connection holder = holding(flooding, keys[0])) {
        Future<Ingested> large = ingest(flooding, keys);
        TableLock.awaitWaiting(flooding.endpoint, 1);
        Future<Ingested> more = ingest(flooding, keys(1));

        assertThat(await(ingest(other, keys(1)))).isEqualTo(new Ingested(1, 0));
        assertThat(await(ingest(other, keys(5)))).isEqualTo(new Ingested(5, 0));
        assertThat(large.isComplete()).isFalse();
        assertThat(more.isComplete()).isFalse();

        holder.rollback();
        assertThat(await(large)).isEqualTo(new Ingested(MUCH, 0));
        assertThat(await(more)).isEqualTo(new Ingested(1, 0));
      }
    }
  }

  @Test
  void aSecondOneBesideWaitsForTheFirst() throws Exception {
    try (UsageFixture flooding = new UsageFixture()) {
      UsageFixture other = flooding.neighbour();
      UsageFixture third = flooding.neighbour();
      flooding.ingestion(CONFIG);
      UUID[] keys = keys(MUCH);
      UUID key = UUID.randomUUID();
      try (Connection holder = holding(flooding, keys[0]);
          Connection holderBeside = holding(other, key)) {
        Future<Ingested> large = ingest(flooding, keys);
        TableLock.awaitWaiting(flooding.endpoint, 1);
        Future<Ingested> beside = ingest(other, key);
        TableLock.awaitWaiting(flooding.endpoint, 2);
        Future<Ingested> next = ingest(third, keys(1));
        awaitBuffered(flooding, MUCH + 2);
        assertThat(next.isComplete()).isFalse();

        holderBeside.rollback();
        assertThat(await(beside)).isEqualTo(new Ingested(1, 0));
        assertThat(await(next)).isEqualTo(new Ingested(1, 0));
        assertThat(large.isComplete()).isFalse();
        holder.rollback();
        assertThat(await(large)).isEqualTo(new Ingested(MUCH, 0));
      }
    }
  }

  @Test
  void whatIsLittleDoesNotWaitForCountingAsSoon() throws Exception {
    try (UsageFixture flooding = new UsageFixture()) {
      UsageFixture other = flooding.neighbour();
      flooding.ingestion(CONFIG);
      FoldBacklog backlog = FoldBacklog.of(flooding.vertx);
      flooding.vertx.setPeriodic(20, timer -> backlog.counted(0)); // does not stand still
      backlog.counted(0);
      backlog.measured(BACKLOG_MAX + 1);

      Future<Ingested> much = ingest(flooding, keys(MUCH));
      assertThat(await(ingest(other, keys(1)))).isEqualTo(new Ingested(1, 0));
      assertThat(much.isComplete()).isFalse();

      backlog.measured(BACKLOG_MAX + BACKLOG_MAX / 10 + 1);
      Future<Ingested> little = ingest(other, keys(1));
      awaitBuffered(flooding, MUCH + 1);
      assertThat(little.isComplete()).isFalse();
      backlog.measured(BACKLOG_MAX + BACKLOG_MAX / 10);
      assertThat(await(little)).isEqualTo(new Ingested(1, 0));
      assertThat(much.isComplete()).isFalse();

      backlog.measured(0);
      assertThat(await(much)).isEqualTo(new Ingested(MUCH, 0));
    }
  }
}

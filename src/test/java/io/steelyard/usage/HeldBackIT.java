package io.steelyard.usage;

import static io.steelyard.usage.UsageFixture.MARCH;
import static io.steelyard.usage.UsageFixture.await;
import static io.steelyard.usage.UsageFixture.event;
import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.config.Config;
import io.steelyard.support.Merchant;
import io.steelyard.usage.UsageMessages.Ingested;
import io.vertx.core.Future;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** Storing that waits for counting, which never catches up. */
class HeldBackIT {
  private static final int BACKLOG_MAX = 1;
  private static final Config.Ingest HOLDING_BACK =
      new Config.Ingest(100, 1 << 20, 2, 50_000, 1 << 26, 100, BACKLOG_MAX);

  private static Future<Ingested> ingest(UsageFixture usage) {
    return usage.ingest(
        usage.merchant, List.of(event(UUID.randomUUID(), UUID.randomUUID(), "a", MARCH, null)));
  }

  @Test
  void aStopStoresAndAnswersWhatWasHeldBack() throws Exception {
    try (UsageFixture usage = new UsageFixture()) {
      String deployment = usage.ingestion(HOLDING_BACK);
      assertThat(await(ingest(usage))).isEqualTo(new Ingested(1, 0));
      FoldBacklog backlog = FoldBacklog.of(usage.vertx);
      backlog.measured(BACKLOG_MAX + 1);
      backlog.counted(0);
      usage.vertx.setPeriodic(20, timer -> backlog.counted(0)); // does not stand still
      Future<Ingested> held = ingest(usage);
      Merchant.eventually(
          () -> usage.metrics.get("steelyard.ingest.buffered").gauge().value(), is -> is == 1);
      assertThat(held.isComplete()).isFalse();

      usage.undeploy(deployment);

      assertThat(await(held)).isEqualTo(new Ingested(1, 0));
      assertThat(usage.text("SELECT count(*) FROM event")).isEqualTo("2");
    }
  }
}

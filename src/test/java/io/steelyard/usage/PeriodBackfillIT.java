package io.steelyard.usage;

import static io.steelyard.usage.UsageFixture.MARCH;
import static io.steelyard.usage.UsageFixture.await;
import static io.steelyard.usage.UsageFixture.event;
import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.catalog.CatalogStore;
import io.steelyard.config.Config;
import io.steelyard.merchant.MerchantClock;
import io.steelyard.support.CitusSupport;
import io.vertx.sqlclient.Pool;
import java.time.Clock;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Periods that come after their events, read in pages. */
class PeriodBackfillIT {
  private static final int KEYS = 7;
  private static UsageFixture usage;

  @BeforeAll
  static void deploy() {
    usage = new UsageFixture();
    usage.ingestion(UsageFixture.INGEST);
  }

  @AfterAll
  static void close() {
    usage.close();
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, 3, 5, 100})
  void everyPageGoesOnWhereTheLastEndedAlsoAmongEqualKeysOfTwoMerchants(int eventsPerPage) {
    List<UUID> keys = new ArrayList<>();
    for (int i = 0; i < KEYS; i++) {
      keys.add(UUID.randomUUID());
    }
    List<UUID> subscriptions = new ArrayList<>();
    for (UsageFixture merchant : List.of(usage.neighbour(), usage.neighbour())) {
      UUID customer = merchant.customer(merchant.merchant);
      UUID plan = merchant.plan();
      merchant.price(plan, merchant.billable("sum", "sum"), null, null);
      List<UsageEvent> events = new ArrayList<>();
      for (UUID key : keys) {
        events.add(event(key, customer, "sum", MARCH, "{\"v\":1}"));
      }
      await(merchant.ingest(merchant.merchant, events));
      subscriptions.add(merchant.subscribed(customer, plan));
    }
    usage.execute(COUNTED_TO_NOBODY);

    backfill(eventsPerPage);

    for (UUID subscription : subscriptions) {
      assertThat(
              usage.number(
                  "SELECT sum FROM usage_counter WHERE subscription_id = '%s'", subscription))
          .isEqualByComparingTo("" + KEYS);
    }
  }

  private static final String COUNTED_TO_NOBODY =
      """
      INSERT INTO event_chunk (merchant_id, customer_id, first_at, last_at, events, content)
      SELECT merchant_id, customer_id, generated_at, generated_at, 1,
             json_build_array(json_build_object('k', key, 'n', name, 'd', data::json,
               't', (extract(epoch FROM generated_at) * 1000)::bigint))
        FROM waiting_event;
      DELETE FROM event_batch;
      """;

  private static void backfill(int eventsPerPage) {
    MerchantClock clock = new MerchantClock(Clock.systemUTC());
    Config.Aggregation config =
        UsageFixture.claiming(100, eventsPerPage * UsageFixture.EVENT_BYTES);
    Pool pool = usage.pools.aggregation(usage.vertx, config.statementTimeoutMs());
    PeriodBackfill backfill =
        new PeriodBackfill(
            config,
            UsageFixture.EVENT_BYTES,
            new UsageStore(clock, CitusSupport.isWanted()),
            new Folding(new PlanCache(new CatalogStore(), clock::systemNow)),
            new AggregationMetrics(usage.metrics, usage.vertx),
            clock::systemNow);
    assertThat(await(backfill.runOnce(pool).eventually(pool::close))).isTrue();
  }
}

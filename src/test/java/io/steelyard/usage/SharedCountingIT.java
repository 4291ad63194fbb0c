package io.steelyard.usage;

import static io.steelyard.usage.UsageFixture.MARCH;
import static io.steelyard.usage.UsageFixture.await;
import static io.steelyard.usage.UsageFixture.event;
import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.cluster.Membership;
import io.steelyard.config.Config;
import io.steelyard.support.ClusterSettings;
import io.steelyard.support.Merchant;
import io.steelyard.support.PostgresSupport;
import io.steelyard.support.TestConfig;
import io.steelyard.usage.UsageMessages.Ingested;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Two nodes of a cluster that store and count on one database. */
class SharedCountingIT {
  private static final int EVENTS_MAX = 1000;
  private static final Config.Aggregation CLAIMING = UsageFixture.claiming(EVENTS_MAX, 1 << 20);

  private final List<Membership> memberships = new ArrayList<>();
  private UsageFixture one;
  private UsageFixture two;

  @BeforeEach
  void join() throws Exception {
    List<Map<String, String>> settings = ClusterSettings.of(2);
    one = new UsageFixture(node(settings.get(0)), PostgresSupport.migratedDatabase());
    two = new UsageFixture(node(settings.get(1)), one.endpoint);
    for (UsageFixture node : List.of(one, two)) {
      await(FoldBacklog.listen(node.vertx));
      HeldEvents.of(node.vertx).upTo(1 << 20, EVENTS_MAX);
    }
    one.ingestion(UsageFixture.INGEST);
  }

  @AfterEach
  void leave() {
    two.close();
    one.close();
    memberships.reversed().forEach(Membership::leave);
  }

  private Vertx node(Map<String, String> settings) throws Exception {
    Map<String, String> all = new HashMap<>(settings);
    all.put("database.url", "postgresql://nobody@nowhere/none"); // a cluster wants both
    all.put("operator.token", "an operator's token");
    Membership membership = Membership.join(TestConfig.with(all).cluster());
    memberships.add(membership);
    return Vertx.builder()
        .with(new VertxOptions().setEventBusOptions(membership.eventBus()))
        .withClusterManager(membership.vertxManager())
        .buildClustered()
        .await(30, TimeUnit.SECONDS);
  }

  private void store(int events) {
    List<UsageEvent> sent = new ArrayList<>();
    for (int i = 0; i < events; i++) {
      sent.add(event(UUID.randomUUID(), UUID.randomUUID(), "a", MARCH, null));
    }
    assertThat(await(one.ingest(one.merchant, sent))).isEqualTo(new Ingested(events, 0));
  }

  private static FoldBacklog backlog(UsageFixture node) {
    return FoldBacklog.of(node.vertx);
  }

  /** Says that it counts, until the other has heard it. */
  private static void tellThatItCounts(UsageFixture teller, UsageFixture listener)
      throws Exception {
    List<UUID> heard =
        Merchant.eventually(
            () -> {
              backlog(teller).measured(0);
              return backlog(listener).othersCounting();
            },
            others -> !others.isEmpty());
    assertThat(heard).containsExactly(backlog(teller).holder());
  }

  @Test
  void whatANodeMeansToCountIsLeftToItForFiveSeconds() throws Exception {
    tellThatItCounts(one, two);
    store(3);
    Instant now = Instant.now();

    assertThat(two.foldOnce(CLAIMING, now)).isFalse();
    assertThat(one.text("SELECT count(held_by) FROM event_batch")).isEqualTo("1");
    assertThat(two.foldOnce(CLAIMING, now.plus(Duration.ofSeconds(6)))).isTrue();
    assertThat(one.text("SELECT count(*) FROM event_batch")).isEqualTo("0");
  }

  @Test
  void whatItHoldsItCountsItselfAndWhoeverIsNotHeardOfIsNotWaitedFor() throws Exception {
    tellThatItCounts(one, two);
    store(3);
    assertThat(one.foldOnce(CLAIMING, Instant.now())).isTrue();
    store(2);
    Instant stored = Instant.now();
    assertThat(two.foldOnce(CLAIMING, stored)).isFalse();

    assertThat(Merchant.eventually(() -> backlog(two).othersCounting(), List::isEmpty)).isEmpty();
    assertThat(two.foldOnce(CLAIMING, stored)).isTrue(); // young by its clock
  }

  @Test
  void aNodeThatFallsBehindIsHelped() throws Exception {
    tellThatItCounts(one, two);
    store(EVENTS_MAX);
    assertThat(two.foldOnce(CLAIMING, Instant.now())).isFalse();
    store(1);

    assertThat(two.foldOnce(CLAIMING, Instant.now())).isTrue();
    assertThat(two.text("SELECT sum(events) FROM event_batch")).isEqualTo("" + EVENTS_MAX);
  }

  @Test
  void whatComesFromTheFutureOfAnotherClockIsAnybodys() throws Exception {
    tellThatItCounts(one, two);
    store(3);

    assertThat(two.foldOnce(CLAIMING, Instant.now().minusSeconds(600))).isTrue();
  }

  @Test
  void whatANodeStoresThatDoesNotCountIsAnybodys() throws Exception {
    tellThatItCounts(two, one);
    store(3);

    assertThat(one.text("SELECT count(held_by) FROM event_batch")).isEqualTo("0");
    assertThat(two.foldOnce(CLAIMING, Instant.now())).isTrue();
  }

  @Test
  void eachKnowsWhatTheOtherStoresAndCounts() throws Exception {
    tellThatItCounts(one, two);
    tellThatItCounts(two, one);
    store(1000);

    assertThat(
            Merchant.eventually(
                () -> {
                  backlog(one).stored(0); // it tells now and then only
                  return backlog(two).events();
                },
                events -> events == 1000))
        .isEqualTo(1000);
    assertThat(backlog(two).holdsBack(999)).isFalse(); // nobody has counted yet
    backlog(two).counted(400);
    assertThat(
            Merchant.eventually(
                () -> {
                  backlog(two).stored(0);
                  return backlog(one).events();
                },
                events -> events == 600))
        .isEqualTo(600);
    assertThat(backlog(one).holdsBack(599)).isTrue();
    assertThat(backlog(one).holdsBack(600)).isFalse();
  }
}

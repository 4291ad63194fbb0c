package io.steelyard.usage;

import static io.steelyard.usage.UsageFixture.APRIL;
import static io.steelyard.usage.UsageFixture.await;
import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.domain.Id;
import io.steelyard.domain.IdKind;
import io.steelyard.subscription.AccessStore;
import io.steelyard.subscription.AccessStore.Changed;
import io.vertx.core.Future;
import io.vertx.sqlclient.Pool;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What the fold and the end of a subscription both write, both lock in the same order. */
class AccessOrderIT {
  private static final String WAITS =
      """
      SELECT count(*) = 1 FROM pg_stat_activity
      WHERE application_name = 'steelyard-api' AND datname = current_database()
        AND wait_event_type = 'Lock'
      """;

  private static final String LOCK =
      "SELECT FROM billable_access WHERE subscription_id = '%s' AND billable_id = '%s' FOR UPDATE";

  @Test
  void anEndThatMeetsAFoldWaitsForItAndNothingIsDeadlocked() throws SQLException {
    try (UsageFixture usage = new UsageFixture()) {
      UUID customer = usage.customer(usage.merchant);
      UUID subscription = usage.subscription(customer, usage.plan());
      List<UUID> billables =
          Stream.of(usage.billable("sum", "a"), usage.billable("sum", "b"))
              .sorted((a, b) -> a.toString().compareTo(b.toString()))
              .toList();
      billables
          .reversed() // stored against the order of their keys
          .forEach(billable -> access(usage, customer, subscription, billable));
      Pool pool = usage.pools.api(usage.vertx);
      Future<Void> ended;
      try (Connection fold = usage.endpoint.connect()) {
        fold.setAutoCommit(false);
        fold.createStatement().execute(LOCK.formatted(subscription, billables.getFirst()));
        Id id = new Id(IdKind.SUBSCRIPTION, subscription);
        ended =
            pool.withTransaction(
                tx -> new AccessStore().close(tx, usage.merchant, List.of(new Changed(id, APRIL))));
        usage.awaitTrue(WAITS);
        fold.createStatement().execute(LOCK.formatted(subscription, billables.getLast()));
        // a new billable's row brings its foreign key to the subscription that is being ended
        fold.createStatement()
            .execute(insertion(usage.merchant, customer, subscription, usage.billable("sum", "c")));
        fold.commit();
      }

      await(ended.eventually(pool::close));
      assertThat(usage.number("SELECT count(*) FROM billable_access WHERE NOT access"))
          .isEqualByComparingTo("2");
    }
  }

  private static void access(UsageFixture usage, UUID customer, UUID subscription, UUID billable) {
    usage.execute(insertion(usage.merchant, customer, subscription, billable));
  }

  private static String insertion(UUID merchant, UUID customer, UUID subscription, UUID billable) {
    return """
        INSERT INTO billable_access (id, merchant_id, customer_id, subscription_id, billable_id,
          access, invalidated, start_date, created_at, updated_at)
        VALUES (gen_random_uuid(), '%s', '%s', '%s', '%s', true, false, now(), now(), now())
        """
        .formatted(merchant, customer, subscription, billable);
  }
}

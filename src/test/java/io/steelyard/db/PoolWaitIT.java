package io.steelyard.db;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.steelyard.bus.Failure;
import io.steelyard.config.Config;
import io.steelyard.support.PostgresSupport;
import io.steelyard.support.TestConfig;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.SqlConnection;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Waiting for one of the pool's connections while others have them all. */
class PoolWaitIT {
  private static final int WAIT_MS = 200;

  private final Vertx vertx = Vertx.vertx();
  private final Config.Database config =
      TestConfig.with(
              Map.of(
                  "database.apiPoolSize", "1",
                  "database.billingPoolSize", "1",
                  "database.poolWaitMs", "" + WAIT_MS))
          .database();
  private final Pools pools = new Pools(config, PostgresSupport.migratedDatabase());

  @AfterEach
  void close() {
    vertx.close().await();
  }

  /** The first takes longer than one may wait, as the driver is loaded for it. */
  private static SqlConnection taken(Pool pool) {
    return taken(pool, 20);
  }

  private static SqlConnection taken(Pool pool, int attempts) {
    Future<SqlConnection> connection = pool.getConnection();
    for (int i = 1; i < attempts; i++) {
      connection = connection.recover(late -> pool.getConnection());
    }
    return connection.await();
  }

  @Test
  void aTransactionThatWaitsInVainFindsTheDatabaseUnavailable() {
    Pool pool = pools.api(vertx);
    SqlConnection taken = taken(pool);

    assertThatThrownBy(() -> Transactions.run(pool, tx -> tx.query("SELECT 1").execute()).await())
        .satisfies(
            error -> assertThat(SqlFailures.of(error)).isInstanceOf(Failure.Unavailable.class));
    taken.close().await();
  }

  @Test
  void theClockworkWaitsForItsOwnTransactionsAsLongAsTheyMayTake() {
    Pool pool = pools.billing(vertx, 60_000);
    SqlConnection taken = taken(pool);

    Future<?> waiting = Transactions.run(pool, tx -> tx.query("SELECT 1").execute());
    vertx.timer(3L * WAIT_MS).await();
    assertThat(waiting.isComplete()).isFalse();
    taken.close().await();

    assertThat(waiting.await()).isNotNull();
  }
}

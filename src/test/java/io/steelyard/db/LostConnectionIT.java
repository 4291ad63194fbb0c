package io.steelyard.db;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.steelyard.config.Config;
import io.steelyard.support.PostgresSupport;
import io.steelyard.support.TestApp;
import io.steelyard.support.TestConfig;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.sqlclient.ClosedConnectionException;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.SqlConnection;
import io.vertx.sqlclient.Tuple;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A transaction ends, whatever becomes of its connection and its work. */
class LostConnectionIT {
  private static final int LIMIT_S = 20;

  private final Vertx vertx = Vertx.vertx();
  private final Endpoint database = PostgresSupport.emptyDatabase();
  private Pool pool;

  @BeforeEach
  void open() {
    PostgresSupport.execute(database, "CREATE TABLE noted (number integer, part integer)");
    Config config =
        TestConfig.with(
            Map.of(
                "database.url", TestApp.url(database), "operator.token", TestApp.OPERATOR_TOKEN));
    pool = new Pools(config.database(), database, Map.of()).api(vertx);
  }

  @AfterEach
  void close() {
    vertx.close().await();
  }

  private static Future<?> insert(SqlConnection connection, int number, int part) {
    return connection
        .preparedQuery("INSERT INTO noted (number, part) VALUES ($1, $2)")
        .execute(Tuple.of(number, part));
  }

  private static Future<Void> insertTwice(SqlConnection connection, int number) {
    return Transactions.pipelined(
        () -> insert(connection, number, 1), () -> insert(connection, number, 2));
  }

  private <T> T ended(Future<T> transaction) throws Exception {
    return transaction.await(LIMIT_S, TimeUnit.SECONDS);
  }

  /** Of statements sent together, one may be lost with the connection and never be heard of. */
  @Test
  void whatIsNeverAnsweredEndsWithTheConnection() throws Exception {
    Promise<Void> begun = Promise.promise();
    Future<Void> transaction =
        Transactions.run(
            pool,
            tx ->
                Transactions.pipelined(
                    () -> insert(tx, 1, 1).onComplete(done -> begun.complete()),
                    () -> Promise.promise().future()));
    ended(begun.future());

    PostgresSupport.execute(
        database,
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
            + " WHERE datname = current_database() AND pid <> pg_backend_pid()");

    assertThatThrownBy(() -> ended(transaction)).isInstanceOf(ClosedConnectionException.class);
    ended(Transactions.run(pool, tx -> insertTwice(tx, 2)));
    assertThat(PostgresSupport.column(database, "SELECT number FROM noted"))
        .containsExactly("2", "2");
  }

  @Test
  void workThatThrowsIsRolledBackAndItsConnectionGivenBack() throws Exception {
    for (int i = 0; i < 50; i++) { // more than there are connections
      int number = i;
      assertThatThrownBy(
              () ->
                  ended(
                      Transactions.run(
                          pool,
                          tx -> {
                            if (number % 2 == 0) {
                              throw new IllegalStateException("no");
                            }
                            return insertTwice(tx, number)
                                .compose(
                                    done -> Future.failedFuture(new IllegalStateException("no")));
                          })))
          .hasMessage("no");
    }

    assertThat(PostgresSupport.column(database, "SELECT number FROM noted")).isEmpty();
  }
}

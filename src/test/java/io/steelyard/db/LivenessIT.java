package io.steelyard.db;

import static io.steelyard.support.Merchant.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.config.Config;
import io.steelyard.support.LossyProxy;
import io.steelyard.support.PostgresSupport;
import io.steelyard.support.TestApp;
import io.steelyard.support.TestConfig;
import io.vertx.core.Vertx;
import java.nio.file.Path;
import java.sql.Connection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** A database notices that a process of ours is gone. */
class LivenessIT {
  private static final int HOUR_MS = 3_600_000;
  private static final Map<String, String> LOOKS =
      Map.of(
          "tcp_keepalives_idle", "30",
          "tcp_keepalives_interval", "5",
          "tcp_keepalives_count", "3",
          "tcp_user_timeout", "15000",
          "client_connection_check_interval", "2000");

  private final Vertx vertx = Vertx.vertx();
  private final Endpoint database = PostgresSupport.emptyDatabase();

  @AfterEach
  void close() {
    vertx.close().await();
  }

  @Test
  void everySessionSaysHowSoonToLook() throws Exception {
    Config config = config();
    Map<String, String> settings = new HashMap<>();

    Database.open(config.database(), Path.of(""))
        .pools(config.database())
        .api(vertx)
        .query("SELECT name, setting FROM pg_settings")
        .execute()
        .await(20, TimeUnit.SECONDS)
        .forEach(row -> settings.put(row.getString(0), row.getString(1)));

    assertThat(settings).containsAllEntriesOf(LOOKS);
  }

  /** In every session that makes a table, the one that holds the lock included. */
  @Test
  void theMigratorSaysItToo() {
    PostgresSupport.execute(
        database,
        "CREATE SCHEMA told",
        "CREATE TABLE told.settings (process integer, name text, setting text)",
        """
        CREATE FUNCTION told.tell() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN
          INSERT INTO told.settings SELECT pg_backend_pid(), name, setting FROM pg_settings;
        END $$
        """,
        "CREATE EVENT TRIGGER tell ON ddl_command_end WHEN TAG IN ('CREATE TABLE')"
            + " EXECUTE FUNCTION told.tell()");
    Config.Database config = config().database();

    Database.open(config, Path.of("")).migrate(config);

    for (String process :
        PostgresSupport.column(database, "SELECT DISTINCT process FROM told.settings")) {
      Map<String, String> settings = new HashMap<>();
      PostgresSupport.column(
              database,
              "SELECT DISTINCT name || '=' || coalesce(setting, '') FROM told.settings"
                  + " WHERE process = "
                  + process)
          .forEach(each -> settings.put(each.split("=", 2)[0], each.split("=", 2)[1]));
      assertThat(settings).containsAllEntriesOf(LOOKS);
    }
    assertThat(PostgresSupport.column(database, "SELECT 1 FROM told.settings LIMIT 1")).hasSize(1);
  }

  private Config config() {
    return TestConfig.with(
        Map.of("database.url", TestApp.url(database), "operator.token", TestApp.OPERATOR_TOKEN));
  }

  @Test
  void whatAServerDoesNotTakeIsLeftOut() throws Exception {
    try (Connection connection = database.connect()) {
      assertThat(Liveness.takenBy(connection, List.of(Map.entry("lock_timeout", "5"))))
          .containsExactlyEntriesOf(Map.of("lock_timeout", "5"));
      assertThat(
              Liveness.takenBy(
                  connection,
                  List.of(
                      Map.entry("not_a_setting", "1"),
                      Map.entry("client_connection_check_interval", "-1"))))
          .isEmpty();
    }
  }

  /** Its statement would take an hour, and hold its lock as long. */
  @Test
  void aProcessThatIsGoneHoldsNothing() throws Exception {
    String waits = "SELECT pg_advisory_lock(77), pg_sleep(3600)";
    String sleeping =
        """
        SELECT pid FROM pg_stat_activity
         WHERE query LIKE '%lock(77)%' AND pid <> pg_backend_pid() AND datname = current_database()
        """;
    String held =
        """
        SELECT l.pid FROM pg_locks l JOIN pg_database d ON d.oid = l.database
         WHERE l.locktype = 'advisory' AND l.objid = 77 AND d.datname = current_database()
        """;
    try (LossyProxy proxy = new LossyProxy(database.port())) {
      Endpoint through =
          new Endpoint(
              "127.0.0.1", proxy.port(), database.database(), database.user(), database.password());
      Map<String, String> session = FirstConnection.await(through, 20_000);
      new Pools(TestConfig.with(Map.of()).database(), through, session)
          .aggregation(vertx, HOUR_MS)
          .query(waits)
          .execute();
      assertThat(eventually(() -> PostgresSupport.column(database, held), pids -> !pids.isEmpty()))
          .hasSize(1);
    }

    assertThat(eventually(() -> PostgresSupport.column(database, sleeping), List::isEmpty))
        .isEmpty();
    assertThat(PostgresSupport.column(database, held)).isEmpty();
  }
}

package io.steelyard.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.db.Endpoint;
import io.steelyard.support.Merchant;
import io.steelyard.support.PostgresSupport;
import io.steelyard.support.ServiceProcess;
import io.steelyard.support.Tables;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A migration takes longer than a start may take otherwise, as one does that copies a large table,
 * while a second node starts.
 */
class LongMigrationFaults {
  private static final int SECONDS = Integer.getInteger("faults.migrationSeconds", 200);

  /** The first table of the service, which is not the migrator's own, takes so long to be made. */
  private static final String SLOW =
      """
      CREATE SCHEMA aside;
      CREATE TABLE aside.slept (at timestamptz);
      CREATE FUNCTION aside.sleep_once() RETURNS event_trigger LANGUAGE plpgsql AS $$ BEGIN
        IF to_regclass('flyway_schema_history') IS NOT NULL
           AND NOT EXISTS (SELECT FROM aside.slept) THEN
          INSERT INTO aside.slept VALUES (now());
          PERFORM pg_sleep(%d);
        END IF;
      END $$;
      CREATE EVENT TRIGGER sleep_once ON ddl_command_start WHEN TAG IN ('CREATE TABLE')
        EXECUTE FUNCTION aside.sleep_once()
      """
          .formatted(SECONDS);

  @TempDir Path temp;

  @Test
  void theStartThatMigratesAndTheOneThatWaitsForItBothSucceed() {
    Endpoint database = PostgresSupport.emptyDatabase();
    PostgresSupport.execute(database, SLOW);
    long startedAt = System.nanoTime();

    List<Long> readyS =
        Merchant.atOnce(
            2,
            i -> {
              try (ServiceProcess node = ServiceProcess.start(temp, database, Map.of())) {
                Scene.until("ready", 10, () -> node.ready().statusCode() == 200);
                return (System.nanoTime() - startedAt) / 1_000_000_000;
              }
            });

    System.out.println("faults: long-migration: ready after s: " + readyS);
    assertThat(readyS).allMatch(seconds -> seconds >= SECONDS);
    assertThat(Tables.query(database, "SELECT count(*) FROM aside.slept")).containsExactly("1");
  }
}

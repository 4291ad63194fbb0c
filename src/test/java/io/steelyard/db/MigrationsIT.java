package io.steelyard.db;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.steelyard.support.PostgresSupport;
import org.flywaydb.core.Flyway;
import org.flywaydb.core.api.FlywayException;
import org.junit.jupiter.api.Test;

class MigrationsIT {
  /** The commit of whoever notes that version 10 is done fails, as if the power had gone. */
  private static final String CUT_OFF =
      """
      CREATE FUNCTION cut_off() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        RAISE EXCEPTION 'cut off';
      END $$;
      CREATE CONSTRAINT TRIGGER cut_off AFTER INSERT ON flyway_schema_history
        DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (NEW.version = '010')
        EXECUTE FUNCTION cut_off()
      """;

  private final Endpoint database = PostgresSupport.emptyDatabase();

  @Test
  void migratingTwiceChangesNothing() {
    String first = Migrations.migrate(database);
    String second = Migrations.migrate(database);

    assertThat(first).isNotNull();
    assertThat(second).isEqualTo(first);
  }

  @Test
  void aMigrationIsDoneAndNotedOrNeither() {
    Flyway.configure()
        .dataSource(database.jdbcUrl(), database.user(), database.password())
        .locations("classpath:db/migration")
        .target("9")
        .load()
        .migrate();
    PostgresSupport.execute(database, CUT_OFF);
    assertThatThrownBy(() -> Migrations.migrate(database))
        .isInstanceOf(FlywayException.class)
        .hasStackTraceContaining("cut off");
    PostgresSupport.execute(database, "DROP FUNCTION cut_off CASCADE");

    assertThat(Integer.parseInt(Migrations.migrate(database))).isGreaterThan(10);
  }
}

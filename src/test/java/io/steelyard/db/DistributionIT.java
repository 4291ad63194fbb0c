package io.steelyard.db;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.steelyard.config.StartFailure;
import io.steelyard.support.PostgresSupport;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What can be told of the distribution without a Citus; the rest is in {@link CitusIT}. */
class DistributionIT {
  private static final String TABLES =
      """
      SELECT relname FROM pg_class
       WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition
      """;

  @Test
  void ofEveryTableOfTheSchemaItIsSaidWhereItBelongs() {
    Endpoint database = plainDatabase();
    List<String> said =
        Stream.of(Distribution.DISTRIBUTED.keySet(), Distribution.REFERENCE, Distribution.LOCAL)
            .flatMap(Set::stream)
            .toList();

    assertThat(said).doesNotHaveDuplicates();
    assertThat(new HashSet<>(PostgresSupport.column(database, TABLES))).isEqualTo(Set.copyOf(said));
  }

  @Test
  void aTableIsDistributedByAColumnOfItsOwnThatIsNeverNull() {
    Endpoint database = plainDatabase();

    Distribution.DISTRIBUTED.forEach(
        (table, column) ->
            assertThat(
                    PostgresSupport.column(
                        database,
                        """
                        SELECT attnotnull FROM pg_attribute
                         WHERE attrelid = '%s'::regclass AND attname = '%s'
                        """
                            .formatted(table, column)))
                .as(table)
                .containsExactly("t"));
  }

  @Test
  void aPlainDatabaseIsLeftAsItIs() {
    Endpoint database = plainDatabase();
    String before = structure(database);

    Distribution.apply(database, false);

    assertThat(structure(database)).isEqualTo(before);
  }

  @Test
  void aDatabaseWithoutTheExtensionIsRefusedAndLeftAsItIs() {
    Endpoint database = plainDatabase();
    String before = structure(database);

    assertThatThrownBy(() -> Distribution.apply(database, true))
        .isInstanceOf(StartFailure.class)
        .hasMessageContaining("database.distribution is citus")
        .hasMessageContaining("has no extension citus");
    assertThat(structure(database)).isEqualTo(before);
  }

  private static Endpoint plainDatabase() {
    Endpoint database = PostgresSupport.emptyDatabase();
    Migrations.migrate(database);
    return database;
  }

  private static String structure(Endpoint database) {
    return PostgresSupport.column(
            database,
            """
            SELECT string_agg(concat_ws(' ', conrelid::regclass, conname), ', '
                              ORDER BY conrelid::regclass::text, conname)
              FROM pg_constraint
            """)
        .getFirst();
  }
}

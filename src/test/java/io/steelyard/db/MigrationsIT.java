package io.steelyard.db;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.support.PostgresSupport;
import org.junit.jupiter.api.Test;

class MigrationsIT {
  @Test
  void migratingTwiceChangesNothing() {
    Endpoint endpoint = PostgresSupport.emptyDatabase();

    String first = Migrations.migrate(endpoint);
    String second = Migrations.migrate(endpoint);

    assertThat(first).isNotNull();
    assertThat(second).isEqualTo(first);
  }
}

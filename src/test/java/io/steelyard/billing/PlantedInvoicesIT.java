package io.steelyard.billing;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.support.PostgresSupport;
import io.steelyard.support.TestApp;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The comparison of billing runs itself: what is planted in one must be found. */
class PlantedInvoicesIT {
  private static final String END = "2040-04-10T00:00:00Z";
  private static final Map<String, String> SETTINGS = BillingRun.SETTINGS;

  private static Crowd billed;
  private static Ledgers expected;

  @BeforeAll
  static void bill() throws Exception {
    billed = Crowd.make(PostgresSupport.migratedDatabase(), SETTINGS, 20);
    try (TestApp app = TestApp.start(billed.database(), SETTINGS)) {
      billed.in(app).at(END);
    }
    expected = Ledgers.of(billed);
  }

  @Test
  void aCopyIsAsItWas() {
    assertThat(expected.invoices()).hasSizeGreaterThan(40);
    assertThat(Ledgers.of(billed.copy()).differences(expected)).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "DELETE FROM invoice_line_item l USING invoice i WHERE l.invoice_id = i.id AND vanity_id = 7",
        "UPDATE invoice SET total = total + 0.01 WHERE vanity_id = 7",
        "UPDATE invoice_line_item l SET quantity = quantity + 1 FROM invoice i"
            + " WHERE l.invoice_id = i.id AND vanity_id = 7",
        "CREATE TEMP TABLE twice AS SELECT * FROM invoice WHERE vanity_id = 7;"
            + " UPDATE twice SET id = gen_random_uuid(), vanity_id = 1000000,"
            + " boundary_index = boundary_index + 1000;"
            + " INSERT INTO invoice SELECT * FROM twice",
        "UPDATE allocation_block SET remaining = remaining - 1"
            + " WHERE id = (SELECT id FROM allocation_block WHERE remaining > 1 LIMIT 1)"
      })
  void whatIsPlantedIsFound(String damage) {
    Crowd copy = billed.copy();
    PostgresSupport.execute(copy.database(), damage);

    assertThat(Ledgers.of(copy).differences(expected)).isNotEmpty();
  }
}

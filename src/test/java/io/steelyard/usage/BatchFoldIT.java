package io.steelyard.usage;

import static io.steelyard.usage.UsageFixture.MARCH;
import static io.steelyard.usage.UsageFixture.await;
import static io.steelyard.usage.UsageFixture.event;
import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** How much one claim takes. */
class BatchFoldIT {
  private static UsageFixture usage;

  @BeforeAll
  static void deploy() {
    usage = new UsageFixture();
    usage.ingestion(UsageFixture.INGEST);
  }

  @AfterAll
  static void close() {
    usage.close();
  }

  @BeforeEach
  void fourBatchesOfTwoEventsAndAboutTwoThousandBytes() {
    usage.execute("TRUNCATE event_key, event_batch");
    String data = "{\"v\":\"" + "x".repeat(800) + "\"}";
    UUID customer = usage.customer(usage.merchant);
    for (int i = 0; i < 4; i++) {
      await(
          usage.ingest(
              usage.merchant,
              List.of(event(customer, "a", MARCH, data), event(customer, "b", MARCH, data))));
    }
  }

  @ParameterizedTest
  @CsvSource({
    "100, 1000000, 0",
    "100, 4700, 2",
    "100, 2500, 3",
    "100, 1, 3",
    "4, 1000000, 2",
    "1, 1000000, 3",
  })
  void aClaimStopsAtEitherBoundAndTakesAtLeastOneBatch(int eventsMax, int bytesMax, int left) {
    assertThat(usage.foldOnce(UsageFixture.claiming(eventsMax, bytesMax), Instant.now())).isTrue();

    assertThat(usage.number("SELECT count(*) FROM event_batch")).isEqualByComparingTo("" + left);
  }
}

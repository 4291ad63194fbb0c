package io.steelyard.json;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.time.ZoneId;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class TimestampsTest {
  @ParameterizedTest
  @CsvSource({
    "2026-01-31T23:59:59Z, 2026-01-31T23:59:59Z",
    "2026-01-31t23:59:59z, 2026-01-31T23:59:59Z",
    "2026-01-31T23:59:59.9Z, 2026-01-31T23:59:59.900Z",
    "2026-01-31T23:59:59.9999999999Z, 2026-01-31T23:59:59.999Z",
    "2026-02-01T01:29:59+01:30, 2026-01-31T23:59:59Z",
    "2026-01-31T05:59:59-18:00, 2026-01-31T23:59:59Z",
    "2024-02-29T00:00:00+00:00, 2024-02-29T00:00:00Z",
    "1969-12-31T23:59:59.001Z, 1969-12-31T23:59:59.001Z",
    "0000-01-01T00:00:00Z, 0000-01-01T00:00:00Z",
  })
  void readsDateTimesToTheMillisecond(String text, String instant) {
    assertThat(Timestamps.dateTime(text)).contains(Instant.parse(instant));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "2026-01-31",
        "2026-01-31T23:59Z",
        "2026-01-31T23:59:59",
        "2026-01-31T23:59:59.Z",
        "2026-01-31T23:59:59,5Z",
        "2026-01-31 23:59:59Z",
        "2026-01-31T23:59:60Z",
        "2026-01-31T24:00:00Z",
        "2026-01-31T23:60:00Z",
        "2025-02-29T00:00:00Z",
        "2026-13-01T00:00:00Z",
        "2026-00-01T00:00:00Z",
        "2026-01-31T23:59:59+18:01",
        "2026-01-31T23:59:59+01:60",
        "2026-01-31T23:59:59+0100",
        "2026-01-31T23:59:59+01",
        "2026-01-31T23:59:59ZZ",
        "2026-01-31T23:59:59+01:00[Europe/Paris]",
        "2026/01/31T23:59:59Z",
        "+2026-01-31T23:59:59Z",
        "٢٠٢٦-01-31T23:59:59Z",
        "2026-1-31T23:59:59.00Z",
      })
  void refusesWhatIsNoDateTimeWithOffset(String text) {
    assertThat(Timestamps.dateTime(text)).isEmpty();
  }

  @Test
  void aDateAloneIsItsFirstInstantInTheZone() {
    ZoneId saoPaulo = ZoneId.of("America/Sao_Paulo");

    assertThat(Timestamps.dateOrDateTime("2026-06-01", saoPaulo))
        .contains(Instant.parse("2026-06-01T03:00:00Z"));
    // that midnight was skipped by the change to summer time
    assertThat(Timestamps.dateOrDateTime("2018-11-04", saoPaulo))
        .contains(Instant.parse("2018-11-04T03:00:00Z"));
    assertThat(Timestamps.dateOrDateTime("2026-06-01T00:00:00Z", saoPaulo))
        .contains(Instant.parse("2026-06-01T00:00:00Z"));
    assertThat(Timestamps.dateOrDateTime("2026-06-31", saoPaulo)).isEmpty();
    assertThat(Timestamps.dateOrDateTime("2026-6-301", saoPaulo)).isEmpty();
  }
}

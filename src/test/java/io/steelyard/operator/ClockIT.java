package io.steelyard.operator;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.support.Merchant;
import io.steelyard.support.TestApp;
import io.steelyard.support.TestApp.Answer;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ClockIT {
  private static TestApp app;

  @BeforeAll
  static void start() {
    app = TestApp.start();
  }

  @AfterAll
  static void stop() {
    app.close();
  }

  private static Answer set(Merchant merchant, Object now) {
    return merchant.operator("PUT", "/clock").json(Map.of("now", now)).send();
  }

  @Test
  void fromThenOnTheMerchantLivesAtThatTime() {
    Merchant merchant = app.merchant("test", null);

    Answer answer = set(merchant, "2031-05-06T07:08:09.123456+02:00");

    assertThat(answer.status()).isEqualTo(200);
    assertThat(answer.object()).containsEntry("now", "2031-05-06T05:08:09.123Z");
    assertThat(merchant.createCustomer("one"))
        .containsEntry("createdAt", "2031-05-06T05:08:09.123Z");
  }

  @Test
  void aClockGoesForwardsOnlyAndMayStandStill() {
    Merchant merchant = app.merchant("test", null);
    set(merchant, "2031-01-01T00:00:00Z");

    Answer back = set(merchant, "2030-12-31T23:59:59.999Z");

    assertThat(back.status()).isEqualTo(409);
    assertThat(back.<String>at("code")).isEqualTo("clock_backwards");
    assertThat(back.<String>at("detail")).contains("2031-01-01T00:00:00.000Z");
    assertThat(set(merchant, "2031-01-01T00:00:00Z").status()).isEqualTo(200);
    assertThat(set(merchant, "2031-01-01T00:00:00.001Z").status()).isEqualTo(200);
  }

  @Test
  void aClockThatWasNeverSetShowsTheRealTimeAndCannotGoBehindIt() {
    Merchant merchant = app.merchant("test", null);

    assertThat(set(merchant, Instant.now().minusSeconds(60).toString()).status()).isEqualTo(409);

    Instant created = Instant.parse((String) merchant.createCustomer("one").get("createdAt"));
    assertThat(created).isBetween(Instant.now().minusSeconds(30), Instant.now().plusSeconds(30));
  }

  @Test
  void theClockOfALiveMerchantIsNobodys() {
    Merchant merchant = app.merchant("live", null);

    Answer refused = set(merchant, "2031-01-01T00:00:00Z");

    assertThat(refused.status()).isEqualTo(409);
    assertThat(refused.<String>at("code")).isEqualTo("live_merchant_clock");
  }

  @Test
  void theClocksOfTwoMerchantsGoApart() {
    Merchant one = app.merchant("test", null);
    Merchant other = app.merchant("test", null);

    set(one, "2031-01-01T00:00:00Z");

    assertThat((String) other.createCustomer("one").get("createdAt")).isLessThan("2031");
  }

  @ParameterizedTest
  @CsvSource({
    "2100-01-01T00:00:00Z, /now out_of_range",
    "2031-01-01T00:00:00, /now format",
    "yesterday, /now format",
    "2031-02-30T00:00:00Z, /now format"
  })
  void aTimeThatIsNoneIsAFault(String now, String fault) {
    Answer refused = set(app.merchant("test", null), now);

    assertThat(refused.status()).isEqualTo(400);
    assertThat(refused.faults()).containsExactly(fault);
  }

  @Test
  void theBodyHoldsTheTimeAndNothingElse() {
    Merchant merchant = app.merchant("test", null);

    assertThat(merchant.operator("PUT", "/clock").json(Map.of()).send(400).faults())
        .isEqualTo(List.of("/now required"));
    assertThat(
            merchant
                .operator("PUT", "/clock")
                .json(Map.of("now", 1_900_000_000, "then", "x"))
                .send(400)
                .faults())
        .containsExactlyInAnyOrder("/now type", "/then unknown_property");
  }
}

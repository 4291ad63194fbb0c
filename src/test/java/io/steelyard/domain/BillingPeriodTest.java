package io.steelyard.domain;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.time.Instant;
import org.junit.jupiter.api.Test;

class BillingPeriodTest {
  private static final Instant START = Instant.parse("2024-04-01T00:00:00Z");
  private static final Instant END = Instant.parse("2024-05-01T00:00:00Z");
  private static final BillingPeriod APRIL = new BillingPeriod(3, START, END, false);

  @Test
  void containsItsStartAndNotItsEnd() {
    assertThat(APRIL.contains(START.minusMillis(1))).isFalse();
    assertThat(APRIL.contains(START)).isTrue();
    assertThat(APRIL.contains(END.minusMillis(1))).isTrue();
    assertThat(APRIL.contains(END)).isFalse();
  }

  @Test
  void isClippedOnlyByAnEarlierEndDate() {
    assertThat(APRIL.clippedTo(null)).isEqualTo(APRIL);
    assertThat(APRIL.clippedTo(END)).isEqualTo(APRIL);
    assertThat(APRIL.clippedTo(END.plusMillis(1))).isEqualTo(APRIL);
    assertThat(APRIL.clippedTo(END.minusMillis(1)))
        .isEqualTo(new BillingPeriod(3, START, END.minusMillis(1), false));
  }

  @Test
  void keepsThatItIsATrialWhenClipped() {
    BillingPeriod trial = new BillingPeriod(0, START, END, true);

    assertThat(trial.clippedTo(START.plusMillis(1)))
        .isEqualTo(new BillingPeriod(0, START, START.plusMillis(1), true));
  }

  @Test
  void isNeverEmpty() {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new BillingPeriod(0, START, START, false));
    assertThatIllegalArgumentException().isThrownBy(() -> APRIL.clippedTo(START));
  }
}

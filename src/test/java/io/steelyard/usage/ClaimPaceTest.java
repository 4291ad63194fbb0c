package io.steelyard.usage;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.usage.ClaimPace.Demand;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class ClaimPaceTest {
  private static final Instant NOW = Instant.parse("2026-01-01T00:00:00Z");

  private final ClaimPace<Integer> pace = new ClaimPace<>(8, 64);

  @Test
  void findsTheOneThatFailsAndGetsAllOthersDone() {
    List<Integer> left = new ArrayList<>(IntStream.range(0, 100).boxed().toList());
    int poison = 37;
    int rounds = 0;

    while (left.size() > 1) {
      List<Integer> claim =
          left.stream()
              .filter(key -> !pace.passedBy(NOW).contains(key))
              .limit(pace.limit())
              .toList();
      pace.begin();
      pace.claimed(claim);
      if (claim.contains(poison)) {
        pace.failed(NOW);
      } else {
        left.removeAll(claim);
        pace.succeeded(Demand.MORE);
      }
      assertThat(++rounds).isLessThan(40);
    }

    assertThat(left).containsExactly(poison);
    assertThat(pace.passedBy(NOW)).containsExactly(poison);
  }

  @Test
  void passesByForLongerAfterEveryFailureAndForgetsAfterSuccess() {
    fail(1);
    assertThat(pace.passedBy(NOW.plusMillis(999))).containsExactly(1);
    assertThat(pace.passedBy(NOW.plusMillis(1000))).isEmpty();
    fail(1);
    assertThat(pace.passedBy(NOW.plusMillis(1999))).containsExactly(1);
    for (int i = 0; i < 50; i++) {
      fail(1);
    }
    assertThat(pace.passedBy(NOW.plusSeconds(299))).containsExactly(1);
    assertThat(pace.passedBy(NOW.plusSeconds(300))).isEmpty();

    pace.claimed(List.of(1));
    pace.succeeded(Demand.SAME);
    fail(1);
    assertThat(pace.passedBy(NOW.plusMillis(1000))).isEmpty();
  }

  @Test
  void theNumberPassedByIsBounded() {
    IntStream.range(0, 1500).forEach(this::fail);

    assertThat(pace.passedBy(NOW)).hasSize(1000);
  }

  @Test
  void followsTheDemandWithinItsBounds() {
    for (int i = 0; i < 10; i++) {
      pace.succeeded(Demand.MORE);
    }
    assertThat(pace.limit()).isEqualTo(64);
    for (int i = 0; i < 10; i++) {
      pace.succeeded(Demand.FEWER);
    }
    assertThat(pace.limit()).isEqualTo(1);
  }

  @Test
  void aFailureBeforeAnythingWasClaimedSetsNothingAside() {
    pace.begin();

    assertThat(pace.failed(NOW)).isFalse();
    assertThat(pace.passedBy(NOW)).isEmpty();
  }

  private void fail(int key) {
    pace.begin();
    pace.claimed(List.of(key));
    assertThat(pace.failed(NOW)).isTrue();
  }
}

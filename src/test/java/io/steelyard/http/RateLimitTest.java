package io.steelyard.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.http.RateLimit.Outcome;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RateLimitTest {
  private static final long MS = 1_000_000;
  private static final long SECOND = 1000 * MS;
  private static final UUID A = new UUID(0, 1);
  private static final UUID B = new UUID(0, 2);

  private final RateLimit limit = new RateLimit(10, 1000);

  private int taken(UUID merchant, int tries, long now) {
    return (int)
        IntStream.range(0, tries).filter(i -> limit.take(merchant, 1, now).taken()).count();
  }

  @ParameterizedTest
  @ValueSource(longs = {0, 5 * SECOND, -3 * SECOND, Long.MAX_VALUE - SECOND / 2})
  void aSecondsWorthGoesAtOnceAndNoMore(long now) {
    assertThat(taken(A, 25, now)).isEqualTo(10);
  }

  @Test
  void whatIsUsedComesBackEvenlyAndNeverBeyondASecondsWorth() {
    taken(A, 10, 0);

    assertThat(taken(A, 5, 99 * MS)).isZero();
    assertThat(taken(A, 5, 100 * MS)).isEqualTo(1);
    assertThat(taken(A, 5, 400 * MS)).isEqualTo(3);
    assertThat(taken(A, 50, 60 * SECOND)).isEqualTo(10);
  }

  @Test
  void overALongTimeTheRateIsTheLimit() {
    int taken = 0;
    for (long now = 0; now < 100 * SECOND; now += 7 * MS) {
      taken += taken(A, 3, now);
    }

    assertThat(taken).isBetween(1000, 1010);
  }

  @Test
  void oneMerchantsUseIsNothingToAnother() {
    taken(A, 10, 0);

    assertThat(limit.take(A, 1, 0).taken()).isFalse();
    assertThat(taken(B, 20, 0)).isEqualTo(10);
  }

  @Test
  void outcomesSayWhatIsLeftAndWhenToTryAgain() {
    assertThat(limit.take(A, 4, 0)).isEqualTo(new Outcome(true, 6, 1, 0));
    assertThat(limit.take(A, 6, 0)).isEqualTo(new Outcome(true, 0, 1, 0));
    assertThat(limit.take(A, 1, 0)).isEqualTo(new Outcome(false, 0, 1, 1));
    assertThat(limit.take(A, 7, 500 * MS)).isEqualTo(new Outcome(false, 5, 1, 1));
  }

  @Test
  void aBatchOfMoreThanASecondsWorthPassesWhenAllIsThereAndCostsItsTime() {
    assertThat(limit.take(A, 45, 0)).isEqualTo(new Outcome(true, 0, 5, 0));

    assertThat(limit.take(A, 1, 3 * SECOND)).isEqualTo(new Outcome(false, 0, 2, 1));
    assertThat(limit.take(A, 1, 3600 * MS).taken()).isTrue();
    assertThat(limit.take(A, 45, 4 * SECOND)).isEqualTo(new Outcome(false, 4, 1, 1));
    assertThat(limit.take(A, 45, 5 * SECOND).taken()).isTrue();
  }

  @Test
  void aRefusalTakesNothing() {
    taken(A, 10, 0);
    taken(A, 1000, 50 * MS);

    assertThat(limit.take(A, 1, 100 * MS).taken()).isTrue();
  }

  @Test
  void whatIsGivenBackCanBeTakenAgainAtOnce() {
    taken(A, 10, 0);

    assertThat(limit.giveBack(A, 4, 0, 0)).isEqualTo(new Outcome(true, 4, 1, 0));
    assertThat(taken(A, 25, 0)).isEqualTo(4);
    assertThat(limit.giveBack(B, 4, 0, 0)).isEqualTo(new Outcome(true, 10, 0, 0));
    assertThat(taken(B, 25, 0)).isEqualTo(10);
  }

  @ParameterizedTest
  @ValueSource(longs = {0, 300, 999, 1000, 1500, 60_000})
  void whatIsGivenBackLateIsNotThereTwice(long afterMs) {
    long now = afterMs * MS;
    taken(A, 10, 0);
    int meanwhile = taken(A, 25, now); // what time has restored

    limit.giveBack(A, 10, 0, now);

    assertThat(meanwhile + taken(A, 25, now)).isEqualTo(10);
    assertThat(taken(A, 25, now + SECOND)).isEqualTo(10);
  }

  @Test
  void aBatchOfSecondsIsGivenBackWhole() {
    limit.take(A, 45, 0);

    limit.giveBack(A, 45, 0, 0);

    assertThat(limit.take(A, 45, 0).taken()).isTrue();
  }

  @Test
  void whatItTellsToWaitIsEnough() {
    RateLimit slow = new RateLimit(3, 10);
    long now = 0;
    for (int units : new int[] {3, 2, 7, 1, 3, 20, 1, 1}) {
      Outcome outcome = slow.take(A, units, now);
      now += outcome.retryAfterS() * SECOND;
      assertThat(outcome.taken() || slow.take(A, units, now).taken()).isTrue();
    }
  }

  @Test
  void manyMerchantsAreForgottenAndThoseWhoWaitForTheirsLast() {
    RateLimit few = new RateLimit(1, 100);
    few.take(A, 60, 0);
    for (int i = 0; i < 99; i++) {
      few.take(new UUID(1, i), 1, 0);
    }

    few.take(new UUID(2, 0), 1, 2 * SECOND);

    assertThat(few.take(A, 1, 2 * SECOND).taken()).isFalse();
  }

  @Test
  void manyThreadsTakeNoMoreThanThereIs() throws InterruptedException {
    RateLimit shared = new RateLimit(1000, 10);
    AtomicInteger taken = new AtomicInteger();
    Thread[] threads = new Thread[8];
    for (int t = 0; t < threads.length; t++) {
      threads[t] =
          Thread.ofVirtual()
              .start(
                  () -> {
                    for (int i = 0; i < 500; i++) {
                      taken.addAndGet(shared.take(A, 1, 0).taken() ? 1 : 0);
                    }
                  });
    }
    for (Thread thread : threads) {
      thread.join();
    }

    assertThat(taken).hasValue(1000);
  }
}

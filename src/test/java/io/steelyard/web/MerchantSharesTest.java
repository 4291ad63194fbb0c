package io.steelyard.web;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.config.Config;
import io.steelyard.domain.Id;
import io.steelyard.domain.IdKind;
import io.vertx.core.Vertx;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class MerchantSharesTest {
  private static final Id A = new Id(IdKind.MERCHANT, new UUID(0, 1));
  private static final Id B = new Id(IdKind.MERCHANT, new UUID(0, 2));
  private static final int PLACES = 3;
  private static final int BYTES = 1500;

  private final Vertx vertx = Vertx.vertx();
  private final MerchantShares shares = MerchantShares.of(vertx, limits(10, 5));

  /** Of the places half, of the bytes a quarter. */
  private static Config.Limits limits(int httpInFlight, int verticleInFlight) {
    return new Config.Limits(
        1024, 1, 1, 1, 8, 1024, 256, 256, 1, httpInFlight, 50, verticleInFlight, 6000, 25, 0, 0);
  }

  @AfterEach
  void close() {
    vertx.close().await();
  }

  @Test
  void allInstancesOfAProcessHaveTheSame() {
    assertThat(MerchantShares.of(vertx, limits(10, 5))).isSameAs(shares);
  }

  @Test
  void aMerchantHasItsPlacesAndNoMoreAndOthersHaveTheirs() {
    MerchantShares.Share first = shares.enter(A);
    for (int i = 1; i < PLACES; i++) {
      assertThat(shares.enter(A)).isSameAs(first);
    }
    assertThat(shares.enter(A)).isNull();
    assertThat(shares.enter(B)).isNotNull();

    first.leave();

    assertThat(shares.enter(A)).isNotNull();
    assertThat(shares.enter(A)).isNull();
  }

  @Test
  void bytesAreCountedForAllRequestsOfAMerchantTogether() {
    MerchantShares.Share share = shares.enter(A);
    assertThat(share.take(BYTES - 10)).isTrue();
    assertThat(shares.enter(A).take(11)).isFalse();
    assertThat(share.fits(11)).isFalse();
    assertThat(share.take(10)).isTrue();
    assertThat(shares.enter(B).take(BYTES)).isTrue();

    share.giveBack(BYTES);

    assertThat(share.fits(BYTES)).isTrue();
    assertThat(share.fits(BYTES + 1)).isFalse();
  }

  @Test
  void manyThreadsTakeNoMoreThanThereIsAndGiveAllBack() throws InterruptedException {
    AtomicInteger inside = new AtomicInteger();
    AtomicInteger most = new AtomicInteger();
    AtomicInteger entered = new AtomicInteger();
    Thread[] threads = new Thread[8];
    for (int t = 0; t < threads.length; t++) {
      threads[t] =
          Thread.ofVirtual()
              .start(
                  () -> {
                    for (int i = 0; i < 500; i++) {
                      MerchantShares.Share share = shares.enter(A);
                      if (share != null) {
                        entered.incrementAndGet();
                        most.accumulateAndGet(inside.incrementAndGet(), Math::max);
                        Thread.yield();
                        inside.decrementAndGet();
                        share.leave();
                      }
                    }
                  });
    }
    for (Thread thread : threads) {
      thread.join();
    }

    assertThat(entered).hasPositiveValue();
    assertThat(most.get()).isBetween(1, PLACES);
    aMerchantHasItsPlacesAndNoMoreAndOthersHaveTheirs();
  }
}

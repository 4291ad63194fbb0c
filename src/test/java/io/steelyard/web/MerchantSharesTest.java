package io.steelyard.web;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
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
  private static final int BODY = 1024;

  private final Vertx vertx = Vertx.vertx();
  private final MerchantShares shares =
      MerchantShares.of(vertx, limits(), 0, new SimpleMeterRegistry());

  /** Of the places half, of the bytes a quarter. */
  private static Config.Limits limits() {
    return new Config.Limits(BODY, 1, 1, 1, 8, 1024, 256, 256, 1, 10, 50, 5, 4 * BYTES, 25, 0, 0);
  }

  @AfterEach
  void close() {
    vertx.close().await();
  }

  @Test
  void allInstancesOfAProcessHaveTheSame() {
    assertThat(MerchantShares.of(vertx, limits(), 0, new SimpleMeterRegistry())).isSameAs(shares);
  }

  @Test
  void aMerchantHasItsPlacesAndNoMoreAndOthersHaveTheirs() {
    Place first = shares.enter(A, 0);
    for (int i = 1; i < PLACES; i++) {
      assertThat(shares.enter(A, 0)).isNotNull();
    }
    assertThat(shares.enter(A, 0)).isNull();
    assertThat(shares.enter(B, 0)).isNotNull();

    first.leave();

    assertThat(shares.enter(A, 0)).isNotNull();
    assertThat(shares.enter(A, 0)).isNull();
  }

  @Test
  void bytesAreCountedForAllRequestsOfAMerchantTogether() {
    Place one = shares.enter(A, 0);
    Place another = shares.enter(A, 0);
    assertThat(one.take(BYTES - 10)).isTrue();
    assertThat(another.take(11)).isFalse();
    assertThat(another.fits(11)).isFalse();
    assertThat(another.take(10)).isTrue();
    assertThat(shares.enter(A, 1)).isNull();
    assertThat(shares.enter(B, BODY).take(BYTES)).isTrue();

    one.giveBack(BYTES - 10);

    assertThat(another.fits(BYTES - 10)).isTrue();
    assertThat(another.fits(BYTES - 9)).isFalse();
  }

  @Test
  void whatARequestPromisedIsItsOwnFromTheBeginningAndCountsOnce() {
    Place one = shares.enter(A, BODY);
    assertThat(shares.enter(A, BYTES - BODY + 1)).isNull();
    Place another = shares.enter(A, BYTES - BODY);

    assertThat(one.fits(BODY)).isTrue();
    assertThat(one.take(BODY)).isTrue();
    assertThat(one.take(1)).isFalse();
    one.giveBack(BODY);
    assertThat(another.fits(BYTES - BODY + 1)).isFalse();
    one.leave();

    assertThat(another.take(BYTES)).isTrue();
    another.leave();
    assertThat(shares.isIdle()).isTrue();
  }

  /** Such a body is refused once it has a place, as it would be from any other. */
  @Test
  void noMoreThanABodyMayHaveIsPromised() {
    shares.enter(A, 0);
    assertThat(shares.enter(A, Long.MAX_VALUE)).isNotNull();

    assertThat(shares.enter(A, BYTES - BODY)).isNotNull();
  }

  @Test
  void aRequestAloneHasAPlaceWhateverItsBody() {
    assertThat(shares.enter(A, 2 * BYTES)).isNotNull();
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
                      Place place = shares.enter(A, i % 3);
                      if (place != null) {
                        entered.incrementAndGet();
                        most.accumulateAndGet(inside.incrementAndGet(), Math::max);
                        Thread.yield();
                        inside.decrementAndGet();
                        place.leave();
                      }
                    }
                  });
    }
    for (Thread thread : threads) {
      thread.join();
    }

    assertThat(entered).hasPositiveValue();
    assertThat(most.get()).isBetween(1, PLACES);
    assertThat(shares.isIdle()).isTrue();
    aMerchantHasItsPlacesAndNoMoreAndOthersHaveTheirs();
  }
}

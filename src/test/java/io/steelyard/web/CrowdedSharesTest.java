package io.steelyard.web;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.steelyard.config.Config;
import io.steelyard.domain.Id;
import io.steelyard.domain.IdKind;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Many event loops at once, each with requests of some merchants in turn. */
class CrowdedSharesTest {
  private static final int LOOPS = 64;
  private static final int REQUESTS = 100;
  private static final int WAIT_MS = 50;
  private static final int BODY = 1000;
  private static final int PLACES = 8;
  private static final int SLOW = 4;
  private static final int MERCHANTS = 2;
  private static final int LINE = 150 * BODY;
  private static final int PERCENT = 2;

  private final Vertx vertx = Vertx.vertx();
  private final MerchantShares shares =
      MerchantShares.of(
          vertx,
          new Config.Limits(
              BODY, 1, 1, 1, 8, 1024, 256, 256, SLOW, PLACES, 100, PLACES, LINE, PERCENT, 0, 0),
          WAIT_MS,
          new SimpleMeterRegistry());
  private final AtomicInteger[] inside = counters();
  private final AtomicInteger[] bytes = counters();
  private final AtomicInteger most = new AtomicInteger();
  private final AtomicInteger mostBytes = new AtomicInteger();
  private final AtomicInteger served = new AtomicInteger();
  private final AtomicInteger refused = new AtomicInteger();
  private final AtomicInteger suspended = new AtomicInteger();

  private static AtomicInteger[] counters() {
    return new AtomicInteger[] {new AtomicInteger(), new AtomicInteger()};
  }

  private static Id merchant(int number) {
    return new Id(IdKind.MERCHANT, new UUID(0, number));
  }

  @AfterEach
  void close() {
    vertx.close().await();
  }

  private Future<Void> run(Loop loop, Random random, int requests) {
    return requests == 0
        ? Future.succeededFuture()
        : request(loop, random).transform(done -> run(loop, random, requests - 1));
  }

  private Future<Void> request(Loop loop, Random random) {
    int merchant = random.nextInt(MERCHANTS);
    int body = random.nextInt(BODY);
    Place place = shares.enter(merchant(merchant), body);
    if (place != null) {
      return arrive(place, merchant, body, loop, random);
    }
    PlaceWait wait = shares.await(merchant(merchant), body, loop.waits());
    if (random.nextInt(4) == 0) {
      vertx.setTimer(1 + random.nextInt(3), now -> wait.giveUp());
    }
    return wait.place()
        .onFailure(error -> refused.incrementAndGet())
        .compose(its -> arrive(its, merchant, body, loop, random));
  }

  /** Some only after a while in which they are none of those inside. */
  private Future<Void> arrive(Place place, int merchant, int body, Loop loop, Random random) {
    if (random.nextInt(4) > 0 || !place.suspend()) {
      return stay(place, merchant, body, random);
    }
    suspended.incrementAndGet();
    return vertx
        .timer(1)
        .compose(came -> room(place, body))
        .compose(whole -> place.resume(loop.waits()))
        .onFailure(
            error -> {
              refused.incrementAndGet();
              place.leave();
            })
        .compose(again -> stay(place, merchant, body, random));
  }

  /** What it promised was for others. */
  private static Future<Void> room(Place place, int body) {
    return place.take(body)
        ? Future.succeededFuture()
        : Future.failedFuture(new IllegalStateException("no room"));
  }

  private Future<Void> stay(Place place, int merchant, int body, Random random) {
    most.accumulateAndGet(inside[merchant].incrementAndGet(), Math::max);
    mostBytes.accumulateAndGet(bytes[merchant].addAndGet(body), Math::max);
    served.incrementAndGet();
    Future<?> time = random.nextBoolean() ? vertx.timer(1) : Future.succeededFuture();
    return time.map(
        now -> {
          inside[merchant].decrementAndGet();
          bytes[merchant].addAndGet(-body);
          place.leave(); // and what was taken
          return null;
        });
  }

  @Test
  void ofManyWhoComeWaitAndLeaveNobodyStays() throws Exception {
    List<Future<Void>> all = new ArrayList<>();
    for (int i = 0; i < LOOPS; i++) {
      Loop loop = new Loop(vertx, 1 + i % 10);
      Random random = new Random(i);
      Promise<Void> done = Promise.promise();
      loop.context().runOnContext(now -> run(loop, random, REQUESTS).onComplete(done));
      all.add(done.future());
    }

    Future.all(all).await(60, TimeUnit.SECONDS);

    assertThat(served.get() + refused.get()).isEqualTo(LOOPS * REQUESTS);
    assertThat(served.get()).isGreaterThan(LOOPS);
    assertThat(refused).hasPositiveValue();
    assertThat(suspended).hasPositiveValue();
    assertThat(most.get()).isBetween(2, PLACES);
    assertThat(mostBytes.get()).isBetween(BODY, LINE * PERCENT / 100);
    assertThat(shares.isIdle()).isTrue();
    assertThat(shares.waiting()).isZero();
  }
}

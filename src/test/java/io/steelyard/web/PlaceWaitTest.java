package io.steelyard.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.steelyard.bus.FailureException;
import io.steelyard.config.Config;
import io.steelyard.domain.Id;
import io.steelyard.domain.IdKind;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class PlaceWaitTest {
  private static final Id A = merchant(1);
  private static final int WAIT_MS = 50;
  private static final int BODY = 1000;

  private final MeterRegistry metrics = new SimpleMeterRegistry();
  private final Vertx vertx = Vertx.vertx();
  private final Loop quick = new Loop(vertx, 1);
  private final Loop patient = new Loop(vertx, Loop.NEVER_MS);

  private static Id merchant(int number) {
    return new Id(IdKind.MERCHANT, new UUID(0, number));
  }

  /**
   * @param places of each merchant
   * @param lineBytes of memory that all who wait may take together
   * @param percent of these, what a merchant's bodies may have
   */
  private MerchantShares shares(int places, long lineBytes, int percent) {
    return MerchantShares.of(vertx, limits(places, lineBytes, percent), WAIT_MS, metrics);
  }

  private static Config.Limits limits(int places, long lineBytes, int percent) {
    return new Config.Limits(
        BODY, 1, 1, 1, 8, 1024, 256, 256, 1, places, 100, places, lineBytes, percent, 0, 0);
  }

  private MerchantShares shares(int places) {
    return shares(places, 1 << 30, 100);
  }

  private static Place got(PlaceWait wait) throws Exception {
    return wait.place().await(10, TimeUnit.SECONDS);
  }

  private static void assertRefused(PlaceWait wait) {
    assertThatThrownBy(() -> got(wait))
        .isInstanceOfSatisfying(
            FailureException.class,
            refusal -> assertThat(refusal.failure().code()).isEqualTo("overloaded"));
  }

  @AfterEach
  void close() {
    vertx.close().await();
  }

  @Test
  void whoHasWaitedLongestIsNextWhicheverThreadItWaitsOn() throws Exception {
    MerchantShares shares = shares(2);
    List<Loop> loops = Stream.generate(() -> new Loop(vertx, Loop.NEVER_MS)).limit(3).toList();
    List<Place> inside = new ArrayList<>(List.of(shares.enter(A, 0), shares.enter(A, 0)));
    List<PlaceWait> line =
        IntStream.range(0, 12).mapToObj(i -> loops.get(i % 3).await(shares, A, 0)).toList();
    assertThat(line).allMatch(PlaceWait::isInLine);

    for (int i = 0; i < line.size(); i++) {
      assertThat(shares.waiting()).isEqualTo(line.size() - i);
      assertThat(shares.enter(A, 0)).isNull();
      assertThat(line.subList(i, line.size())).noneMatch(wait -> wait.place().isComplete());
      inside.removeFirst().leave();
      inside.add(got(line.get(i)));
    }

    inside.forEach(Place::leave);
    assertThat(shares.isIdle()).isTrue();
    assertThat(shares.waiting()).isZero();
  }

  @Test
  void aPlaceThatIsLeftForAWhileIsHadAgainBeforeThoseInLine() throws Exception {
    MerchantShares shares = shares(2);
    Place slow = shares.enter(A, BODY);
    Place other = shares.enter(A, 0);
    PlaceWait first = patient.await(shares, A, 0);
    PlaceWait second = patient.await(shares, A, 0);

    assertThat(slow.suspend()).isTrue();
    Place firsts = got(first);
    Future<?> again = patient.call(() -> slow.resume(patient.waits()));
    assertThat(shares.waiting()).isEqualTo(2);
    assertThat(again.isComplete()).isFalse();
    other.leave();

    again.await(10, TimeUnit.SECONDS);
    assertThat(second.place().isComplete()).isFalse();
    slow.leave();
    firsts.leave();
    got(second).leave();
    assertThat(shares.isIdle()).isTrue();
    assertThat(shares.waiting()).isZero();
  }

  @Test
  void whoWaitsInVainForThePlaceItLeftIsRefused() throws Exception {
    MerchantShares shares = shares(1);
    Place slow = shares.enter(A, BODY);
    assertThat(slow.suspend()).isTrue();
    Place other = shares.enter(A, 0);

    Future<?> again = quick.call(() -> slow.resume(quick.waits()));

    assertThatThrownBy(() -> again.await(10, TimeUnit.SECONDS))
        .isInstanceOf(FailureException.class);
    slow.leave();
    other.leave();
    assertThat(shares.isIdle()).isTrue();
    assertThat(shares.waiting()).isZero();
  }

  @Test
  void asManyMayLeaveTheirPlacesAsAreWithinItsShareOfConnections() {
    MerchantShares shares = shares(2); // of one connection
    Place one = shares.enter(A, BODY);
    Place another = shares.enter(A, 0);

    assertThat(one.suspend()).isTrue();
    assertThat(another.suspend()).isFalse();

    assertThat(shares.enter(A, 0)).isNotNull();
    assertThat(shares.enter(A, 0)).isNull();
    one.leave();
    assertThat(another.suspend()).isTrue();
  }

  @Test
  void aMerchantDoesNotWaitForAnother() {
    MerchantShares shares = shares(1);
    shares.enter(A, 0);
    patient.await(shares, A, 0);

    assertThat(shares.enter(merchant(2), 0)).isNotNull();
  }

  @Test
  void whoWaitsInVainIsRefusedAndFreesNothing() throws Exception {
    MerchantShares shares = shares(1);
    Place place = shares.enter(A, 0);
    long start = System.nanoTime();
    PlaceWait wait = quick.await(shares, A, 0);

    assertRefused(wait);

    assertThat(Duration.ofNanos(System.nanoTime() - start)).isGreaterThan(ofWait());
    assertThat(shares.waiting()).isZero();
    assertThat(shares.enter(A, 0)).isNull();
    PlaceWait next = patient.await(shares, A, 0);
    assertThat(next.place().isComplete()).isFalse();
    place.leave();
    got(next).leave();
    assertThat(shares.isIdle()).isTrue();
  }

  private static Duration ofWait() {
    return Duration.ofMillis(WAIT_MS - 1);
  }

  @Test
  void nobodyPassesTheFirstWhoseBytesDoNotFitUntilItsTimeIsUp() throws Exception {
    MerchantShares shares = shares(10, 100 * BODY, 2);
    Place other = shares.enter(A, 0);
    other.take(2 * BODY - 1);
    PlaceWait large = patient.await(shares, A, BODY);
    assertThat(shares.enter(A, 1)).isNull();
    shares.enter(A, 0).leave(); // which has no body, and takes nothing from it
    PlaceWait small = patient.await(shares, A, 1);
    assertThat(shares.waiting()).isEqualTo(2);

    patient.call(
        () -> {
          large.expire();
          return null;
        });

    assertRefused(large);
    got(small).leave();
    other.leave();
    assertThat(shares.isIdle()).isTrue();
  }

  @Test
  void noMoreAreLetInThanWhatTheyPromisedHasRoom() throws Exception {
    MerchantShares shares = shares(10, 100 * BODY, 5);
    shares.enter(A, BODY);
    Place place = shares.enter(A, 0);
    place.take(4 * BODY);
    List<PlaceWait> line =
        IntStream.range(0, 7).mapToObj(i -> patient.await(shares, A, BODY)).toList();
    assertThat(shares.waiting()).isEqualTo(7);

    place.leave();

    for (PlaceWait wait : line.subList(0, 4)) {
      assertThat(got(wait).take(BODY)).isTrue();
    }
    assertThat(shares.waiting()).isEqualTo(3);
  }

  @Test
  void aLineIsBoundedForOneMerchantAndForAll() throws Exception {
    MerchantShares shares = shares(1, 6000, 100); // a request without a body counts 2048
    for (int merchant = 1; merchant <= 3; merchant++) {
      shares.enter(merchant(merchant), 0);
    }
    PlaceWait first = patient.await(shares, A, 0);
    PlaceWait second = patient.await(shares, A, 0);
    PlaceWait other = patient.await(shares, merchant(2), 0);
    long start = System.nanoTime();
    PlaceWait third = quick.await(shares, merchant(3), 0);

    assertThat(List.of(first, second, other, third))
        .extracting(PlaceWait::isInLine)
        .containsExactly(true, false, true, false);
    assertThat(shares.waiting()).isEqualTo(2);
    assertRefused(third);
    assertThat(Duration.ofNanos(System.nanoTime() - start)).isGreaterThan(ofWait());
    patient.context().runOnContext(now -> first.giveUp());
    assertRefused(first);
    assertThat(shares.waiting()).isEqualTo(1);
    assertThat(patient.await(shares, A, 0).isInLine()).isTrue();
    assertThat(patient.await(shares, merchant(3), 0).isInLine()).isFalse();
  }

  /** Each takes memory too, and over HTTP/2 there may be far more of them than connections. */
  @Test
  void noMoreWaitInVainThanInLineAndTheOthersAreRefusedAtOnce() throws Exception {
    MerchantShares shares = shares(1, 6000, 100); // of 2048 each, so two
    shares.enter(A, 0);
    shares.enter(merchant(2), 0);
    assertThat(patient.await(shares, A, 0).isInLine()).isTrue();
    PlaceWait one = patient.await(shares, A, 0);
    PlaceWait another = quick.await(shares, A, 0);

    assertRefusedAtOnce(patient.await(shares, A, 0));
    assertThat(one.place().isComplete()).isFalse();
    assertThat(patient.await(shares, merchant(2), 0).isInLine()).isTrue();

    assertRefused(another); // its time is up
    patient.context().runOnContext(now -> one.giveUp());
    assertRefused(one);
    PlaceWait third = patient.await(shares, A, 0);
    PlaceWait fourth = patient.await(shares, A, 0);
    assertThat(List.of(third, fourth)).noneMatch(wait -> wait.place().isComplete());
    assertRefusedAtOnce(patient.await(shares, A, 0));
  }

  private static void assertRefusedAtOnce(PlaceWait wait) {
    assertThat(wait.isInLine()).isFalse();
    assertThat(wait.place().failed()).isTrue();
  }

  @Test
  void aLongBodyCountsAsFarAsItIsReadAndAnUnknownOneAsMuch() {
    MerchantShares shares = shares(1, 1 << 20, 100);
    shares.enter(A, 0);

    assertThat(
            List.of(
                patient.await(shares, A, 1 << 20).isInLine(),
                patient.await(shares, A, -1).isInLine(),
                patient.await(shares, A, 1000).isInLine()))
        .containsExactly(true, false, true);
  }

  @Test
  void whoGivesUpLeavesTheLineToTheNext() throws Exception {
    MerchantShares shares = shares(1);
    Place place = shares.enter(A, 0);
    PlaceWait gone = patient.await(shares, A, 0);
    PlaceWait next = patient.await(shares, A, 0);

    patient.context().runOnContext(now -> gone.giveUp());

    assertRefused(gone);
    assertThat(shares.waiting()).isEqualTo(1);
    place.leave();
    got(next).leave();
    assertThat(shares.isIdle()).isTrue();
  }

  @Test
  void aPlaceOnItsWayToSomebodyWhoGivesUpGoesOnToTheNext() throws Exception {
    MerchantShares shares = shares(1);
    Place place = shares.enter(A, 0);
    PlaceWait gone = patient.await(shares, A, 0);
    PlaceWait next = new Loop(vertx, Loop.NEVER_MS).await(shares, A, 0);

    patient
        .context()
        .runOnContext(
            now -> {
              place.leave();
              gone.giveUp();
            });

    assertRefused(gone);
    got(next).leave();
    assertThat(shares.isIdle()).isTrue();
  }

  @Test
  void withNoTimeToWaitTheRefusalComesAtOnce() {
    MerchantShares shares = MerchantShares.of(vertx, limits(1, 1 << 30, 100), 0, metrics);
    shares.enter(A, 0);

    PlaceWait wait = patient.await(shares, A, 0);

    assertThat(wait.isInLine()).isFalse();
    assertThat(wait.place().failed()).isTrue();
    assertThat(shares.waiting()).isZero();
  }

  /** Each gives its place to the next before its own end is done with. */
  @Test
  void aLongLineOfRequestsThatEndAtOnceEnds() throws Exception {
    MerchantShares shares = shares(1);
    Place place = shares.enter(A, 0);
    List<Future<Void>> line = new ArrayList<>();
    for (int i = 0; i < 10_000; i++) {
      line.add(
          patient
              .await(shares, A, 0)
              .place()
              .map(
                  its -> {
                    its.leave();
                    return null;
                  }));
    }

    patient.context().runOnContext(now -> place.leave());

    Future.all(line).await(10, TimeUnit.SECONDS);
    assertThat(shares.isIdle()).isTrue();
  }
}

package io.steelyard.usage;

import io.micrometer.core.instrument.Timer;
import io.steelyard.bus.Failure;
import io.steelyard.bus.FailureException;
import io.steelyard.bus.Origin;
import io.steelyard.bus.SharedGauge;
import io.steelyard.config.Config;
import io.steelyard.usage.Flush.Entry;
import io.steelyard.usage.Flush.Pending;
import io.steelyard.usage.UsageMessages.Ingested;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Group commit: requests that come while a flush is under way go together into the next. There is
 * no delay: a lonely event is flushed at once. A second flush begins beside the first only when
 * there is enough for it, since half as many statements cost half as much. Merchants take turns,
 * and none may fill the buffer alone; those who have little do not wait for a large flush of
 * others, but have a small one beside it. Belongs to one event loop.
 */
final class IngestBuffer {
  private static final Logger LOG = LoggerFactory.getLogger(IngestBuffer.class);

  /** What the buffer does towards the outside. */
  interface Surroundings {
    /** Those whose keys had been stored before. */
    Future<List<Entry>> store(Flush flush);

    Future<Long> countConflicts(List<Entry> duplicates);

    /** Called after a flush that stored so many events, more than none. */
    void stored(int events);

    /** Whether so many events wait to be counted that storing should wait for it. */
    boolean holdsBack(int backlogEventsMax);
  }

  /** Small flushes in one that is full. */
  private static final int SMALL_FLUSHES = 5;

  /** Those who have little: so many fit into a small flush. */
  private static final int MERCHANTS_OF_SMALL_FLUSH = 4;

  /** Of what may wait to be counted, what those who have little may add: one part in so many. */
  private static final int BACKLOG_PARTS_BESIDE = 10;

  private final Config.Ingest config;
  private final Surroundings surroundings;
  private final Function<Throwable, Failure> failures;
  private final IngestMetrics metrics;
  private final SharedGauge bufferedGauge;
  private final SharedGauge bytesGauge;
  private final Turns waiting;
  private final long smallFlushBytesMax;
  private final int smallFlushMax;
  private final Promise<Void> idle = Promise.promise();
  private int bufferedEvents;
  private long bufferedBytes;
  private int flushes;
  private int largeFlushes;
  private boolean flushesBeside;
  private boolean closing;

  IngestBuffer(
      Config.Ingest config,
      Surroundings surroundings,
      Function<Throwable, Failure> failures,
      IngestMetrics metrics,
      SharedGauge bufferedGauge,
      SharedGauge bytesGauge) {
    this.config = config;
    smallFlushMax = Math.max(1, config.flushEventsMax() / SMALL_FLUSHES);
    smallFlushBytesMax = config.flushBytesMax() / SMALL_FLUSHES;
    waiting =
        new Turns(
            smallFlushMax / MERCHANTS_OF_SMALL_FLUSH,
            smallFlushBytesMax / MERCHANTS_OF_SMALL_FLUSH);
    this.surroundings = surroundings;
    this.failures = failures;
    this.metrics = metrics;
    this.bufferedGauge = bufferedGauge;
    this.bytesGauge = bytesGauge;
  }

  /** Answered once the events are committed. */
  Future<Ingested> add(UUID merchantId, int merchantNumber, EncodedEvents events) {
    Pending pending = new Pending(merchantId, merchantNumber, events);
    if (bufferedEvents > 0 && !hasRoomFor(pending)) {
      Failure overloaded =
          new Failure.Overloaded(
              "ingest_overloaded", "Too many events are waiting to be stored. Try again.", 1);
      metrics.refused(overloaded.code(), events.count());
      return FailureException.failed(overloaded);
    }
    waiting.add(pending);
    buffered(pending.count(), pending.bytes());
    flushWaiting();
    return pending.answer().future();
  }

  /** What a merchant has in flushes under way does not count as its share. */
  private boolean hasRoomFor(Pending pending) {
    double share = config.bufferedPercentPerMerchant() / 100.0;
    long eventsOfMerchant = waiting.eventsOf(pending.merchantId());
    long bytesOfMerchant = waiting.bytesOf(pending.merchantId());
    return bufferedEvents + pending.count() <= config.bufferedEventsMax()
        && bufferedBytes + pending.bytes() <= config.bufferedBytesMax()
        && (eventsOfMerchant == 0
            || (eventsOfMerchant + pending.count() <= config.bufferedEventsMax() * share
                && bytesOfMerchant + pending.bytes() <= config.bufferedBytesMax() * share));
  }

  /** Completes when nothing is waiting and no flush is under way; nothing may be added after. */
  Future<Void> drain() {
    closing = true;
    flushWaiting();
    completeWhenIdle();
    return idle.future();
  }

  /** Takes up what was held back, as far as it may go on. */
  void goOn() {
    flushWaiting();
  }

  private void flushWaiting() {
    while (mayFlush()) {
      boolean large = isMuchWaiting();
      List<Pending> requests = next();
      flushes++;
      largeFlushes += large ? 1 : 0;
      flush(requests)
          .onComplete(
              done -> {
                flushes--;
                largeFlushes -= large ? 1 : 0;
                ended(requests);
              });
    }
    while (mayFlushBeside()) {
      List<Pending> requests = waiting.takeOfLittle(smallFlushMax, smallFlushBytesMax);
      flushesBeside = true;
      flush(requests)
          .onComplete(
              done -> {
                flushesBeside = false;
                ended(requests);
              });
    }
  }

  private boolean mayFlush() {
    if (waiting.isEmpty() || holdsBack(config.backlogEventsMax())) {
      return false;
    }
    return flushes == 0
        || (flushes < config.flushesInFlight()
            && (waiting.events() >= config.flushEventsMax() / 2
                || waiting.bytes() >= config.flushBytesMax() / 2));
  }

  /** Of those who have not little, so much that the others should not have to wait for it. */
  private boolean isMuchWaiting() {
    return waiting.events() - waiting.eventsOfLittle() > smallFlushMax
        || waiting.bytes() - waiting.bytesOfLittle() > smallFlushBytesMax;
  }

  /** Those who have little are left for a flush beside this one, if all of them fit into that. */
  private List<Pending> next() {
    boolean besides =
        isMuchWaiting()
            && waiting.eventsOfLittle() <= smallFlushMax
            && waiting.bytesOfLittle() <= smallFlushBytesMax;
    return besides
        ? waiting.takeOfMuch(config.flushEventsMax(), config.flushBytesMax())
        : waiting.take(config.flushEventsMax(), config.flushBytesMax());
  }

  /**
   * Where storing waits for counting, those who have little may add some more, since they are
   * seldom why it is behind; not without a bound, since they may be many.
   */
  private boolean mayFlushBeside() {
    int backlogMax = config.backlogEventsMax();
    return waiting.eventsOfLittle() > 0
        && !flushesBeside
        && (largeFlushes > 0 || holdsBack(backlogMax))
        && !holdsBack(backlogMax + backlogMax / BACKLOG_PARTS_BESIDE);
  }

  private boolean holdsBack(int backlogEventsMax) {
    return !closing && surroundings.holdsBack(backlogEventsMax);
  }

  private void ended(List<Pending> requests) {
    waiting.ended(requests);
    flushWaiting();
    completeWhenIdle();
  }

  private void completeWhenIdle() {
    if (closing && waiting.isIdle()) {
      idle.tryComplete();
    }
  }

  private Future<Void> flush(List<Pending> requests) {
    try {
      return flush(new Flush(requests));
    } catch (RuntimeException | OutOfMemoryError e) { // its place would be taken for ever
      return failed(requests, e);
    }
  }

  private Future<Void> flush(Flush flush) {
    Timer.Sample sample = metrics.flushStarted(flush.entries().size());
    Origin first = flush.requests().getFirst().origin();
    return first
        .run(() -> surroundings.store(flush))
        .onComplete(done -> metrics.flushEnded(sample))
        .compose(
            known -> {
              answer(flush, known);
              return countConflicts(flush, known);
            },
            error -> failed(flush.requests(), error));
  }

  private void answer(Flush flush, List<Entry> known) {
    List<Ingested> outcomes = flush.outcomes(known);
    for (int i = 0; i < outcomes.size(); i++) {
      Pending request = flush.requests().get(i);
      buffered(-request.count(), -request.bytes());
      metrics.answered(outcomes.get(i));
      request.answer().complete(outcomes.get(i));
    }
    int stored = flush.entries().size() - known.size();
    if (stored > 0) {
      surroundings.stored(stored);
    }
  }

  /** Keeps the flush's place, so that a storm of duplicates cannot pile up these queries. */
  private Future<Void> countConflicts(Flush flush, List<Entry> known) {
    List<Entry> duplicates = new ArrayList<>(known);
    duplicates.addAll(flush.repeats());
    if (duplicates.isEmpty()) {
      return Future.succeededFuture();
    }
    return surroundings
        .countConflicts(duplicates)
        .onSuccess(metrics::conflicting)
        .onFailure(
            error ->
                LOG.warn("cannot tell conflicts among {} duplicates", duplicates.size(), error))
        .transform(done -> Future.succeededFuture());
  }

  private Future<Void> failed(List<Pending> requests, Throwable error) {
    Failure failure = failures.apply(error);
    if (failure instanceof Failure.Unexpected) {
      LOG.error("a flush of {} requests failed", requests.size(), error);
    }
    for (Pending request : requests) {
      buffered(-request.count(), -request.bytes());
      metrics.refused(failure.code(), request.count());
      request.answer().fail(failure.asException());
    }
    return Future.succeededFuture();
  }

  private void buffered(int events, long bytes) {
    bufferedEvents += events;
    bufferedBytes += bytes;
    bytesGauge.add(bytes);
    bufferedGauge.add(events);
  }
}

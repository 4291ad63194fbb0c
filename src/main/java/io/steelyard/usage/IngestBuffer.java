package io.steelyard.usage;

import io.micrometer.core.instrument.Timer;
import io.steelyard.bus.Failure;
import io.steelyard.bus.FailureException;
import io.steelyard.config.Config;
import io.steelyard.usage.EventStore.Entry;
import io.steelyard.usage.EventStore.EventId;
import io.steelyard.usage.Flush.Pending;
import io.steelyard.usage.UsageMessages.Ingested;
import io.steelyard.usage.UsageMessages.UsageEvent;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.pgclient.PgException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Group commit: requests that come while all flushes are under way go together into the next. There
 * is no delay: a lonely event is flushed at once. Belongs to one event loop.
 */
final class IngestBuffer {
  private static final Logger LOG = LoggerFactory.getLogger(IngestBuffer.class);

  /** What the buffer does towards the outside. */
  interface Surroundings {
    Future<Set<EventId>> store(List<Entry> entries);

    Future<Long> countConflicts(List<Entry> duplicates);

    /** Called after a flush that stored something. */
    void stored();
  }

  private final Config.Ingest config;
  private final Surroundings surroundings;
  private final Function<Throwable, Failure> failures;
  private final IngestMetrics metrics;
  private final SharedGauge bufferedGauge;
  private final SharedGauge bytesGauge;
  private final Deque<Pending> waiting = new ArrayDeque<>();
  private final Promise<Void> idle = Promise.promise();
  private int bufferedEvents;
  private long bufferedBytes;
  private int flushes;
  private boolean closing;

  IngestBuffer(
      Config.Ingest config,
      Surroundings surroundings,
      Function<Throwable, Failure> failures,
      IngestMetrics metrics,
      SharedGauge bufferedGauge,
      SharedGauge bytesGauge) {
    this.config = config;
    this.surroundings = surroundings;
    this.failures = failures;
    this.metrics = metrics;
    this.bufferedGauge = bufferedGauge;
    this.bytesGauge = bytesGauge;
  }

  /** Answered once the events are committed. */
  Future<Ingested> add(UUID merchantId, List<UsageEvent> events) {
    long bytes = events.stream().mapToLong(UsageEvent::roughBytes).sum();
    boolean full =
        bufferedEvents + events.size() > config.bufferedEventsMax()
            || bufferedBytes + bytes > config.bufferedBytesMax();
    if (full && bufferedEvents > 0) {
      Failure overloaded =
          new Failure.Overloaded(
              "ingest_overloaded", "Too many events are waiting to be stored. Try again.", 1);
      metrics.refused(overloaded.code(), events.size());
      return FailureException.failed(overloaded);
    }
    Pending pending = new Pending(merchantId, events, bytes, Promise.promise());
    waiting.add(pending);
    buffered(events.size(), bytes);
    flushWaiting();
    return pending.answer().future();
  }

  /** Completes when nothing is waiting and no flush is under way; nothing may be added after. */
  Future<Void> drain() {
    closing = true;
    completeWhenIdle();
    return idle.future();
  }

  private void flushWaiting() {
    while (flushes < config.flushesInFlight() && !waiting.isEmpty()) {
      flushes++;
      flush(takeWaiting())
          .onComplete(
              done -> {
                flushes--;
                flushWaiting();
                completeWhenIdle();
              });
    }
  }

  private void completeWhenIdle() {
    if (closing && flushes == 0 && waiting.isEmpty()) {
      idle.tryComplete();
    }
  }

  /** Whole requests in their order; one alone may be larger than a flush should be. */
  private List<Pending> takeWaiting() {
    List<Pending> taken = new ArrayList<>();
    int events = 0;
    long bytes = 0;
    do {
      Pending pending = waiting.poll();
      taken.add(pending);
      events += pending.events().size();
      bytes += pending.bytes();
    } while (!waiting.isEmpty()
        && events + waiting.peek().events().size() <= config.flushEventsMax()
        && bytes + waiting.peek().bytes() <= config.flushBytesMax());
    return taken;
  }

  private Future<Void> flush(List<Pending> requests) {
    Flush flush = new Flush(requests);
    List<Entry> entries = flush.entries();
    Timer.Sample sample = metrics.flushStarted(entries.size());
    return surroundings
        .store(entries)
        .onComplete(done -> metrics.flushEnded(sample))
        .compose(
            stored -> {
              answer(flush, stored);
              return countConflicts(flush, stored);
            },
            error -> failed(requests, error));
  }

  private void answer(Flush flush, Set<EventId> stored) {
    List<Ingested> outcomes = flush.outcomes(stored);
    for (int i = 0; i < outcomes.size(); i++) {
      Pending request = flush.requests().get(i);
      buffered(-request.events().size(), -request.bytes());
      metrics.answered(outcomes.get(i));
      request.answer().complete(outcomes.get(i));
    }
    if (!stored.isEmpty()) {
      surroundings.stored();
    }
  }

  /** Keeps the flush's place, so that a storm of duplicates cannot pile up these queries. */
  private Future<Void> countConflicts(Flush flush, Set<EventId> stored) {
    metrics.conflicting(flush.conflictsWithin(stored));
    List<Entry> before = flush.storedBefore(stored);
    if (before.isEmpty()) {
      return Future.succeededFuture();
    }
    return surroundings
        .countConflicts(before)
        .onSuccess(metrics::conflicting)
        .onFailure(
            error -> LOG.warn("cannot tell conflicts among {} duplicates", before.size(), error))
        .transform(done -> Future.succeededFuture());
  }

  /** What one request's data caused must not hit the others: they are stored one by one. */
  private Future<Void> failed(List<Pending> requests, Throwable error) {
    if (requests.size() > 1 && isFaultOfData(error)) {
      Future<Void> done = Future.succeededFuture();
      for (Pending request : requests) {
        done = done.compose(before -> flush(List.of(request)));
      }
      return done;
    }
    Failure failure = failures.apply(error);
    if (failure instanceof Failure.Unexpected) {
      LOG.error("a flush of {} requests failed", requests.size(), error);
    }
    for (Pending request : requests) {
      buffered(-request.events().size(), -request.bytes());
      metrics.refused(failure.code(), request.events().size());
      request.answer().fail(failure.asException());
    }
    return Future.succeededFuture();
  }

  /** Data exception, integrity, limit exceeded: not the server's state. */
  private static boolean isFaultOfData(Throwable error) {
    return error instanceof PgException pg
        && pg.getSqlState() != null
        && (pg.getSqlState().startsWith("22")
            || pg.getSqlState().startsWith("23")
            || pg.getSqlState().startsWith("54"));
  }

  private void buffered(int events, long bytes) {
    bufferedEvents += events;
    bufferedBytes += bytes;
    bytesGauge.add(bytes);
    bufferedGauge.add(events);
  }
}

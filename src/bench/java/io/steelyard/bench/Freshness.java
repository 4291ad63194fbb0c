package io.steelyard.bench;

import java.io.IOException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.HdrHistogram.Histogram;

/**
 * How long after an event was due to be sent its customer's balance shows it: a customer of its own
 * sends one every 50 ms, and its balance is asked for as often as that can be told.
 */
final class Freshness implements AutoCloseable {
  private static final long EVERY_NANOS = TimeUnit.MILLISECONDS.toNanos(50);
  private static final long LAST_NANOS = TimeUnit.SECONDS.toNanos(60);
  private static final long POLL_MS = 10;
  private static final int DIGITS = 3;

  private final ServiceProcess service;
  private final Metered merchant;
  private final Metered.Customer customer;
  private final Histogram millis = new Histogram(DIGITS);
  private final List<Long> dueAt = new ArrayList<>();
  private final Thread posting;
  private final Thread polling;
  private volatile boolean stopped;
  private volatile Exception failure;

  Freshness(ServiceProcess service, Metered merchant) throws IOException, InterruptedException {
    this.service = service;
    this.merchant = merchant.withUnits(service, 1);
    this.customer = this.merchant.customers().getFirst();
    posting = Thread.ofPlatform().daemon().start(() -> watched(this::post));
    polling = Thread.ofPlatform().daemon().start(() -> watched(this::poll));
  }

  private interface Work {
    void run() throws IOException, InterruptedException;
  }

  private void watched(Work work) {
    try {
      work.run();
    } catch (IOException | RuntimeException e) {
      failure = failure == null ? e : failure;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void post() throws IOException, InterruptedException {
    for (long due = System.nanoTime(); !stopped && failure == null; due += EVERY_NANOS) {
      Thread.sleep(Duration.ofNanos(Math.max(0, due - System.nanoTime())));
      synchronized (dueAt) {
        dueAt.add(due);
      }
      takeIn(
          """
          {"customerId": "%s", "eventName": "%s", "generatedAt": "%s", "idempotencyKey": "%s",
           "data": {"count": 1}}
          """
              .formatted(customer.id(), EventRequests.NAME, Instant.now(), UUID.randomUUID()));
    }
  }

  /** As often as it takes; the time that this costs is part of what is measured. */
  private void takeIn(String event) throws IOException, InterruptedException {
    while (failure == null) {
      try {
        service.post(merchant.apiKey(), EventRequests.PATH, event);
        return;
      } catch (ServiceProcess.BusyException e) {
        Thread.sleep(POLL_MS);
      }
    }
  }

  private void poll() throws IOException, InterruptedException {
    int seen = 0;
    long giveUpAt = Long.MAX_VALUE;
    while (failure == null && (!stopped || seen < posted())) {
      if (stopped && giveUpAt == Long.MAX_VALUE) {
        giveUpAt = System.nanoTime() + LAST_NANOS;
      } else if (System.nanoTime() > giveUpAt) {
        throw new IllegalStateException(posted() - seen + " events were never seen");
      }
      int used = used();
      long now = System.nanoTime();
      for (; seen < used; seen++) {
        millis.recordValue(TimeUnit.NANOSECONDS.toMillis(now - due(seen)));
      }
      Thread.sleep(POLL_MS);
    }
  }

  private int used() throws IOException, InterruptedException {
    while (true) {
      try {
        return service
            .get(merchant.apiKey(), merchant.usagePath(customer))
            .get("totalUsed")
            .intValue();
      } catch (ServiceProcess.BusyException e) {
        Thread.sleep(POLL_MS);
      }
    }
  }

  private int posted() {
    synchronized (dueAt) {
      return dueAt.size();
    }
  }

  private long due(int number) {
    synchronized (dueAt) {
      return dueAt.get(number);
    }
  }

  /** Waits until the last event was seen. */
  @Override
  public void close() {
    stopped = true;
    try {
      posting.join();
      polling.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    if (failure != null) {
      throw new IllegalStateException("the probe failed", failure);
    }
  }

  /** Only once it is closed; each is one event with the count 1. */
  int events() {
    return dueAt.size();
  }

  double percentileMs(double share) {
    return millis.getValueAtPercentile(100 * share);
  }

  @Override
  public String toString() {
    return "p50 %d ms, p99 %d ms, max %d ms of %d events"
        .formatted(
            millis.getValueAtPercentile(50),
            millis.getValueAtPercentile(99),
            millis.getMaxValue(),
            millis.getTotalCount());
  }
}

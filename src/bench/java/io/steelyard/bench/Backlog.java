package io.steelyard.bench;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** How many stored events are not yet counted, looked at once a second. */
final class Backlog implements AutoCloseable {
  private static final String METRIC = "steelyard_aggregation_backlog_events";
  private static final long EVERY_MS = 1000;

  private final ServiceProcess service;
  private final List<Double> samples = new ArrayList<>();
  private final Thread thread;
  private IOException failure;

  Backlog(ServiceProcess service) {
    this.service = service;
    thread = Thread.ofPlatform().daemon().start(this::watch);
  }

  private void watch() {
    try {
      while (true) {
        Thread.sleep(EVERY_MS);
        samples.add(service.metric(METRIC));
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (IOException e) {
      failure = e;
    }
  }

  /** Only once it is closed. Events by which it became longer each second, by least squares. */
  double growthPerSecond() {
    double n = samples.size();
    double meanTime = (n - 1) / 2;
    double mean = mean();
    double products = 0;
    double squares = 0;
    for (int i = 0; i < n; i++) {
      products += (i - meanTime) * (samples.get(i) - mean);
      squares += (i - meanTime) * (i - meanTime);
    }
    return squares == 0 ? 0 : products / squares;
  }

  private double mean() {
    return samples.stream().mapToDouble(each -> each).average().orElse(0);
  }

  @Override
  public String toString() {
    return String.format(
        Locale.ROOT,
        "%.0f events on average, at most %.0f, at the end %.0f; grows by %.0f a second",
        mean(),
        samples.stream().mapToDouble(each -> each).max().orElse(0),
        samples.isEmpty() ? 0 : samples.getLast(),
        growthPerSecond());
  }

  @Override
  public void close() throws IOException {
    thread.interrupt();
    try {
      thread.join();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    if (failure != null) {
      throw failure;
    }
  }
}

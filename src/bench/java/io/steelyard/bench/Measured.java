package io.steelyard.bench;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import java.util.stream.LongStream;
import org.HdrHistogram.Histogram;

/** What a load was answered. */
final class Measured {
  private static final long LONGEST_MICROS = TimeUnit.MINUTES.toMicros(10);
  private static final int DIGITS = 3;
  private static final int STATUSES = 600;

  private final Histogram micros = new Histogram(LONGEST_MICROS, DIGITS);
  private final long[] statuses = new long[STATUSES];
  private double seconds;
  private long answersInTime;
  private long acceptedInTime;
  private long accepted;
  private long duplicates;
  private long withoutRetryAfter;
  private long broken;
  private long unsent;

  /** One answer, read from its bytes. */
  record Answer(int status, boolean hasRetryAfter, long accepted, long duplicates) {
    boolean isSuccess() {
      return status < 300;
    }
  }

  /**
   * @param micros since the request was sent, or should have been
   * @param inTime whether it came while the load was still being sent
   */
  void answered(Answer answer, long micros, boolean inTime) {
    statuses[answer.status()]++;
    if (answer.isSuccess()) {
      this.micros.recordValue(Math.min(micros, LONGEST_MICROS));
      accepted += answer.accepted();
      duplicates += answer.duplicates();
      answersInTime += inTime ? 1 : 0;
      acceptedInTime += inTime ? answer.accepted() : 0;
    } else if ((answer.status() == 429 || answer.status() == 503) && !answer.hasRetryAfter()) {
      withoutRetryAfter++;
    }
  }

  /** The connection ended under so many requests. */
  void broken(int requests) {
    broken += requests;
  }

  /** Sending took so long. */
  void ended(double seconds) {
    this.seconds = seconds;
  }

  /**
   * A request found no connection that was free.
   *
   * @param micros how long it had been due in the end; counts among the latencies, so that waiting
   *     does not become invisible where it is longest
   */
  void unsent(long micros) {
    this.micros.recordValue(Math.min(micros, LONGEST_MICROS));
    unsent++;
  }

  /** Of requests that succeeded. */
  double perSecond() {
    return answersInTime / seconds;
  }

  double seconds() {
    return seconds;
  }

  double acceptedPerSecond() {
    return acceptedInTime / seconds;
  }

  /** All that were acknowledged, also after the time. */
  long accepted() {
    return accepted;
  }

  long duplicates() {
    return duplicates;
  }

  /** Requests that succeeded. */
  long answers() {
    return micros.getTotalCount() - unsent;
  }

  long withoutRetryAfter() {
    return withoutRetryAfter;
  }

  long brokenRequests() {
    return broken;
  }

  double percentileMs(double share) {
    return micros.getValueAtPercentile(100 * share) / 1e3;
  }

  String latency() {
    return "p50 %.1f ms, p99 %.1f ms, p99.9 %.1f ms, max %.0f ms"
        .formatted(
            percentileMs(0.5), percentileMs(0.99), percentileMs(0.999), micros.getMaxValue() / 1e3);
  }

  /** Requests answered with 429 or 503. */
  long refused() {
    return statuses[429] + statuses[503];
  }

  /** Each status with its number, and what was not answered. */
  String outcomes() {
    Map<String, Long> all = new TreeMap<>();
    for (int status = 0; status < STATUSES; status++) {
      if (statuses[status] > 0) {
        all.put(Integer.toString(status), statuses[status]);
      }
    }
    List<String> texts = new ArrayList<>();
    all.forEach((status, number) -> texts.add(number + " x " + status));
    if (broken > 0) {
      texts.add(broken + " without an answer");
    }
    if (unsent > 0) {
      texts.add(unsent + " not sent, every connection being busy");
    }
    return String.join(", ", texts);
  }

  /** Nothing failed; some requests may have been refused for the load they were part of. */
  Measured requireNoFaults() {
    long good = answers() + refused();
    if (good != LongStream.of(statuses).sum()) {
      throw new IllegalStateException("faults: " + outcomes());
    }
    return this;
  }

  /** Every request was answered with {@code status}, or the benchmark measured something else. */
  Measured requireOnly(int status) {
    long all = broken + LongStream.of(statuses).sum();
    if (all == 0 || statuses[status] != all) {
      throw new IllegalStateException("not all were answered with " + status + ": " + outcomes());
    }
    return this;
  }
}

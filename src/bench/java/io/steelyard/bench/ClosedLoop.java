package io.steelyard.bench;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongFunction;

/** Connections that each post the next body as soon as they have the answer to the last. */
final class ClosedLoop {
  private static final double NANOS_PER_MS = 1e6;

  private final int port;
  private final String path;
  private final String apiKey;
  private final LongFunction<String> bodies;
  private final AtomicLong next = new AtomicLong();

  /**
   * @param bodies the body of each number
   */
  ClosedLoop(int port, String path, String apiKey, LongFunction<String> bodies) {
    this.port = port;
    this.path = path;
    this.apiKey = apiKey;
    this.bodies = bodies;
  }

  /** Requests answered with 201 within the time, and how long each took. */
  record Measured(long[] nanos, double seconds) {
    double perSecond() {
      return nanos.length / seconds;
    }

    double percentileMs(double share) {
      return nanos[(int) Math.min(nanos.length - 1, nanos.length * share)] / NANOS_PER_MS;
    }
  }

  Measured run(int connections, int seconds) throws InterruptedException, ExecutionException {
    long startedAt = System.nanoTime();
    long until = startedAt + TimeUnit.SECONDS.toNanos(seconds);
    try (ExecutorService threads = Executors.newFixedThreadPool(connections)) {
      List<Callable<long[]>> loops = new ArrayList<>();
      for (int i = 0; i < connections; i++) {
        loops.add(() -> loop(until));
      }
      List<long[]> all = new ArrayList<>();
      for (Future<long[]> done : threads.invokeAll(loops)) {
        all.add(done.get());
      }
      double took = (System.nanoTime() - startedAt) / 1e9;
      long[] nanos = all.stream().flatMapToLong(Arrays::stream).sorted().toArray();
      return new Measured(nanos, took);
    }
  }

  private long[] loop(long until) throws IOException {
    long[] nanos = new long[1024];
    int count = 0;
    try (HttpConnection connection = new HttpConnection(port, path, apiKey)) {
      for (long sent = System.nanoTime(); sent < until; sent = System.nanoTime()) {
        HttpConnection.Answer answer = connection.post(bodies.apply(next.getAndIncrement()));
        if (answer.status() != 201) {
          throw new IllegalStateException(answer.status() + " " + new String(answer.body()));
        }
        if (count == nanos.length) {
          nanos = Arrays.copyOf(nanos, 2 * count);
        }
        nanos[count++] = System.nanoTime() - sent;
      }
    }
    return Arrays.copyOf(nanos, count);
  }
}

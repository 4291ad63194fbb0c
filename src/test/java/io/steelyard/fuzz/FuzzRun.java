package io.steelyard.fuzz;

import io.steelyard.support.RawHttp;
import io.steelyard.support.RawHttp.Response;
import java.io.UncheckedIOException;
import java.net.SocketTimeoutException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/** Sends requests over a few connections and looks at every answer. */
final class FuzzRun {
  static final int ANSWER_MAX_MS = 40_000;
  private static final int FAULTS_MAX = 40;

  /** Where it is sent, and how long an answer may take. */
  record Target(int apiPort, int managementPort, int answerMaxMs) {}

  private final Requests requests;
  private final Target target;
  private final Map<String, Map<Integer, Integer>> statuses = new TreeMap<>();
  private final List<String> faults = new ArrayList<>();
  private long slowestMs;
  private FuzzRequest slowest;

  FuzzRun(Requests requests, Target target) {
    this.requests = requests;
    this.target = target;
  }

  /** Sends the requests with these numbers, some at a time; returns when all are answered. */
  FuzzRun send(long first, long count, int lanes) throws Exception {
    try (ExecutorService threads = Executors.newFixedThreadPool(lanes)) {
      List<Future<?>> running = new ArrayList<>();
      for (int lane = 0; lane < lanes; lane++) {
        int begin = lane;
        running.add(
            threads.submit(
                () -> {
                  try (Lane one = new Lane()) {
                    for (long i = begin; i < count && !isHopeless(); i += lanes) {
                      one.ask(requests.request(first + i));
                    }
                  }
                }));
      }
      for (Future<?> each : running) {
        each.get();
      }
    }
    return this;
  }

  private synchronized boolean isHopeless() {
    return faults.size() >= FAULTS_MAX;
  }

  private synchronized void add(FuzzRequest request, Response answer, long ms, List<String> found) {
    if (answer != null) {
      statuses
          .computeIfAbsent(request.operation().toString(), none -> new TreeMap<>())
          .merge(answer.status(), 1, Integer::sum);
    }
    if (ms > slowestMs) {
      slowestMs = ms;
      slowest = request;
    }
    for (String fault : found) {
      faults.add(
          "%s%n  %s%n  %s"
              .formatted(
                  fault,
                  request,
                  answer == null ? "no answer" : answer.status() + " " + cut(answer.body())));
    }
  }

  private static String cut(String text) {
    return text.length() < 600 ? text : text.substring(0, 600);
  }

  /** What was not as it must be, with the request. */
  synchronized List<String> faults() {
    return List.copyOf(faults);
  }

  /** How often each status was answered, by operation. */
  synchronized Map<String, Map<Integer, Integer>> statuses() {
    return statuses;
  }

  synchronized long count(int hundred) {
    return statuses.values().stream()
        .flatMap(each -> each.entrySet().stream())
        .filter(each -> each.getKey() / 100 == hundred)
        .mapToLong(Map.Entry::getValue)
        .sum();
  }

  synchronized String slowest() {
    return slowestMs + " ms by " + (slowest == null ? "none" : slowest.operation());
  }

  /** One request after the other, over a connection to each port. */
  private final class Lane implements AutoCloseable {
    private final Answers answers = new Answers();
    private final RawHttp[] connections = new RawHttp[2];

    void ask(FuzzRequest request) {
      int port = request.operation().operator() ? 1 : 0;
      boolean used = connections[port] != null;
      long startedAt = System.nanoTime();
      Response answer;
      try {
        answer = exchange(port, request);
      } catch (UncheckedIOException e) {
        close(port);
        if (e.getCause() instanceof SocketTimeoutException) {
          add(request, null, msSince(startedAt), List.of("no answer in time"));
          return;
        }
        if (!used) {
          boolean cutOff = request.isCutOff(); // then the reset may overtake the answer
          add(
              request,
              null,
              msSince(startedAt),
              cutOff ? List.of() : List.of("no answer: " + e.getCause()));
          return;
        }
        ask(request); // the connection may have come to its end before
        return;
      }
      if ("close".equalsIgnoreCase(answer.header("connection"))) {
        close(port);
      }
      add(request, answer, msSince(startedAt), answers.faults(request, answer));
    }

    private Response exchange(int port, FuzzRequest request) {
      if (connections[port] == null) {
        connections[port] =
            RawHttp.connect(
                port == 0 ? target.apiPort() : target.managementPort(), target.answerMaxMs());
      }
      byte[] bytes = new byte[request.head().length + request.body().length];
      System.arraycopy(request.head(), 0, bytes, 0, request.head().length);
      System.arraycopy(request.body(), 0, bytes, request.head().length, request.body().length);
      try {
        connections[port].send(bytes);
      } catch (UncheckedIOException e) {
        return connections[port].read(); // why nothing more is taken
      }
      return connections[port].read();
    }

    private static long msSince(long startedAt) {
      return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startedAt);
    }

    private void close(int port) {
      if (connections[port] != null) {
        connections[port].close();
        connections[port] = null;
      }
    }

    @Override
    public void close() {
      close(0);
      close(1);
    }
  }
}

package io.steelyard.bench;

import java.io.IOException;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * Requests over many connections from one thread: either as fast as the answers come, or at a fixed
 * rate, whatever the answers do. Written by hand, since a client library would take more of the
 * machine than it leaves to the service.
 */
final class Load implements Callable<Measured> {
  private static final long LAST_ANSWER_NANOS = TimeUnit.SECONDS.toNanos(60);
  private static final long IDLE_MS = 100;

  private final Settings settings;
  private final Selector selector;
  private final List<LoadConnection> connections = new ArrayList<>();
  private final Measured measured;
  private long startedAt;
  private long until;
  private long sent;
  private long waiting;
  private int cursor;
  private int underWay;

  /**
   * @param depth requests that one connection sends before it has the answer to the first
   * @param perSecond of requests; 0 for as fast as the answers come
   * @param most requests to send in all, within the time
   * @param requests of one connection
   */
  record Settings(
      int port,
      int connections,
      int depth,
      double perSecond,
      Duration time,
      long most,
      Supplier<Requests> requests) {

    /** As fast as the answers come. */
    static Settings closed(int port, int connections, int seconds, Supplier<Requests> requests) {
      return new Settings(
          port, connections, 1, 0, Duration.ofSeconds(seconds), Long.MAX_VALUE, requests);
    }

    /** A fixed number a second. */
    static Settings open(
        int port, int connections, double perSecond, int seconds, Supplier<Requests> requests) {
      return new Settings(
          port, connections, 1, perSecond, Duration.ofSeconds(seconds), Long.MAX_VALUE, requests);
    }

    Settings depth(int depth) {
      return new Settings(port, connections, depth, perSecond, time, most, requests);
    }

    Settings seconds(int seconds) {
      return new Settings(
          port, connections, depth, perSecond, Duration.ofSeconds(seconds), most, requests);
    }

    Settings most(long most) {
      return new Settings(port, connections, depth, perSecond, time, most, requests);
    }
  }

  private Load(Settings settings, Selector selector) {
    this.settings = settings;
    this.selector = selector;
    this.measured = new Measured();
  }

  static Load of(Settings settings) throws IOException {
    return new Load(settings, Selector.open());
  }

  static Measured run(Settings settings) throws IOException {
    return of(settings).call();
  }

  /** All at once, each in a thread of its own. */
  static List<Measured> together(Settings... all)
      throws IOException, InterruptedException, ExecutionException {
    List<Load> loads = new ArrayList<>();
    for (Settings settings : all) {
      loads.add(of(settings));
    }
    try (ExecutorService threads = Executors.newFixedThreadPool(loads.size())) {
      List<Measured> measured = new ArrayList<>();
      for (Future<Measured> each : threads.invokeAll(loads)) {
        measured.add(each.get());
      }
      return measured;
    }
  }

  @Override
  public Measured call() throws IOException {
    try (selector) {
      LoadConnection.Listener listener = new Answers();
      for (int i = 0; i < settings.connections(); i++) {
        connections.add(
            new LoadConnection(
                selector, settings.port(), settings.depth(), settings.requests().get(), listener));
      }
      startedAt = System.nanoTime();
      until = startedAt + settings.time().toNanos();
      loop();
      for (LoadConnection connection : connections) {
        connection.close();
      }
    }
    return measured;
  }

  private void loop() throws IOException {
    long now = startedAt;
    while (isSending(now) || underWay > 0) {
      if (isSending(now)) {
        send(now);
      } else if (now > until + LAST_ANSWER_NANOS) {
        throw new IllegalStateException(underWay + " requests had no answer");
      }
      selector.select(this::ready, waitMs());
      now = System.nanoTime();
    }
    measured.ended((Math.min(now, until) - startedAt) / 1e9);
    for (long number = sent; number < sent + waiting; number++) {
      measured.unsent((until - dueAt(number)) / 1000);
    }
  }

  private boolean isSending(long now) {
    return now < until && sent < settings.most();
  }

  /** Requests that should have been sent by then: the first at the start. */
  private long due(long now) {
    return 1 + (long) ((now - startedAt) / 1e9 * settings.perSecond());
  }

  private long dueAt(long number) {
    return startedAt + (long) (number / settings.perSecond() * 1e9);
  }

  private long waitMs() {
    return settings.perSecond() > 0 ? 1 : IDLE_MS;
  }

  private void send(long now) throws IOException {
    boolean open = settings.perSecond() > 0;
    long most = Math.min(open ? due(now) : Long.MAX_VALUE, settings.most());
    for (LoadConnection free = nextFree(most); free != null; free = nextFree(most)) {
      // of a fixed rate the time at which it was due, so that waiting for a connection counts
      long at = open ? dueAt(sent) : System.nanoTime();
      sent++;
      underWay++;
      free.send(at);
    }
    waiting = open ? most - sent : 0;
  }

  private LoadConnection nextFree(long most) {
    if (sent >= most) {
      return null;
    }
    for (int i = 0; i < connections.size(); i++) {
      LoadConnection connection = connections.get(cursor);
      cursor = (cursor + 1) % connections.size();
      if (connection.canSend()) {
        return connection;
      }
    }
    return null;
  }

  private void ready(SelectionKey key) {
    try {
      ((LoadConnection) key.attachment()).ready();
    } catch (IOException e) {
      throw new IllegalStateException("the service is not reachable", e);
    }
  }

  private final class Answers implements LoadConnection.Listener {
    @Override
    public void answered(LoadConnection connection, long sentAt, Measured.Answer answer) {
      long now = System.nanoTime();
      underWay--;
      measured.answered(answer, (now - sentAt) / 1000, now < until);
    }

    @Override
    public void broken(LoadConnection connection, int requests) {
      underWay -= requests;
      measured.broken(requests);
    }
  }
}

package io.steelyard.faults;

import io.steelyard.faults.Batches.Batch;
import io.steelyard.faults.Ledger.Outcome;
import io.steelyard.support.RawHttp;
import io.steelyard.support.RawHttp.Response;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Senders that repeat a batch under the same keys until it is acknowledged, through any fault. Each
 * stays with a node until its connection breaks or the node's door is closed, and goes to the next.
 */
final class EventLoad implements AutoCloseable {
  private static final long GIVE_UP_NANOS = TimeUnit.SECONDS.toNanos(180);
  private static final long RETRY_MS = 100;
  private static final int PAUSE_MS_MAX = 60;
  private static final int TOLD_MAX = 20;

  /** A status for a call whose connection broke or that nobody answered. */
  static final int BROKEN = 0;

  private final Account account;
  private final List<Door> doors;
  private final Ledger ledger;
  private final long seed;
  private final List<Thread> senders = new ArrayList<>();
  private final Queue<String> faults = new ConcurrentLinkedQueue<>();
  private final AtomicLong acknowledged = new AtomicLong();
  private final AtomicLong slowestNanos = new AtomicLong();
  private volatile boolean stopping;
  private int repeatedAtOnce;

  /** Counts when the database goes and when it comes back: odd while it is away. */
  private final AtomicInteger outage = new AtomicInteger();

  EventLoad(Account account, List<Door> doors, Ledger ledger, long seed) {
    this.account = account;
    this.doors = List.copyOf(doors);
    this.ledger = ledger;
    this.seed = seed;
  }

  /** What fails is tried again so many times without a pause, before each pause. */
  EventLoad repeatingAtOnce(int times) {
    repeatedAtOnce = times;
    return this;
  }

  EventLoad start(int connections) {
    for (int i = 0; i < connections; i++) {
      int number = i;
      senders.add(Thread.ofVirtual().start(() -> new Sender(number).run()));
    }
    return this;
  }

  /** From now on, until {@link #databaseIsBack}, what begins cannot be acknowledged. */
  void databaseIsAway() {
    outage.incrementAndGet();
  }

  /** Told before it is started again. */
  void databaseIsBack() {
    outage.incrementAndGet();
  }

  /** Events acknowledged so far, each once. */
  long acknowledged() {
    return acknowledged.get();
  }

  /** Calls by status. */
  Map<Integer, Long> statuses() {
    Map<Integer, Long> counts = new TreeMap<>();
    doors.forEach(
        door -> door.statuses().forEach((status, count) -> counts.merge(status, count, Long::sum)));
    return counts;
  }

  /** What was heard at one of the nodes, by its number. */
  Door door(int number) {
    return doors.get(number);
  }

  long slowestMs() {
    return TimeUnit.NANOSECONDS.toMillis(slowestNanos.get());
  }

  /** Answers that should not have been given. */
  List<String> faults() {
    return List.copyOf(faults);
  }

  /** Returns when every sender has had its last batch acknowledged, or has given up. */
  void finish() {
    stopping = true;
    for (Thread sender : senders) {
      try {
        sender.join();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new IllegalStateException(e);
      }
    }
  }

  @Override
  public void close() {
    stopping = true;
    senders.forEach(Thread::interrupt);
    finish();
  }

  private void fault(String what) {
    if (faults.size() < TOLD_MAX) {
      faults.add(what);
    }
  }

  private final class Sender {
    private final Batches batches;
    private int at;
    private RawHttp connection;

    Sender(int number) {
      this.at = number % doors.size();
      this.batches = new Batches(seed + number, account.customers().size());
    }

    void run() {
      try {
        while (!stopping) {
          deliver(batches.next());
          Thread.sleep(batches.pauseMs(PAUSE_MS_MAX));
        }
      } catch (InterruptedException e) {
        fault("a sender was stopped within a batch, or between two");
      } catch (RuntimeException e) {
        fault("a sender failed: " + e);
      } finally {
        hangUp();
      }
    }

    private void deliver(Batch batch) throws InterruptedException {
      byte[] request = request(batch);
      long giveUpAt = System.nanoTime() + GIVE_UP_NANOS;
      for (int calls = 1; ; calls++) {
        ledger.before(batch.events());
        Outcome outcome = outcome(batch, call(request), calls == 1);
        ledger.after(batch.events(), outcome);
        if (outcome == Outcome.ACKED) {
          batches.acknowledged(batch);
          acknowledged.addAndGet(batch.again() ? 0 : batch.events().size());
        }
        if (outcome != Outcome.UNKNOWN) {
          return;
        }
        if (System.nanoTime() > giveUpAt) {
          fault("gave up: " + batch.events().getFirst().key());
          return;
        }
        Thread.sleep(calls % (repeatedAtOnce + 1) == 0 ? RETRY_MS : 0);
      }
    }

    private byte[] request(Batch batch) {
      byte[] body = batch.body(account);
      byte[] head =
          """
          POST /external/event HTTP/1.1
          Host: localhost
          X-API-Key: %s
          Content-Type: application/json
          Content-Length: %d

          """
              .formatted(account.apiKey(), body.length)
              .replace("\n", "\r\n")
              .getBytes(StandardCharsets.US_ASCII);
      byte[] request = Arrays.copyOf(head, head.length + body.length);
      System.arraycopy(body, 0, request, head.length, body.length);
      return request;
    }

    /** Null where nothing was heard. */
    private Response call(byte[] request) {
      int outageBefore = outage.get();
      long startedAt = System.nanoTime();
      Response answer = null;
      try {
        knock();
        answer = connection.send(request).read();
        if ("close".equalsIgnoreCase(answer.header("connection"))) {
          hangUp();
        }
      } catch (UncheckedIOException e) {
        hangUp(); // the outcome is not known, which is what is returned
      }
      long tookNanos = System.nanoTime() - startedAt;
      slowestNanos.accumulateAndGet(tookNanos, Math::max);
      int status = answer == null ? BROKEN : answer.status();
      doors.get(at).heard(status);
      if (connection == null) {
        at = (at + 1) % doors.size();
      }
      if (status == 202 && outageBefore % 2 == 1 && outage.get() == outageBefore) {
        fault("acknowledged while the database was away");
      }
      return answer;
    }

    /** Connected to a node whose door is open, or to any where none is. */
    private void knock() {
      for (int i = 0; i < doors.size() && !doors.get(at).isOpen(); i++) {
        hangUp();
        at = (at + 1) % doors.size();
      }
      if (connection == null) {
        connection = RawHttp.connect(doors.get(at).host(), doors.get(at).port());
      }
    }

    private void hangUp() {
      if (connection != null) {
        connection.close();
        connection = null;
      }
    }

    private Outcome outcome(Batch batch, Response answer, boolean first) {
      if (answer == null) {
        return Outcome.UNKNOWN;
      }
      switch (answer.status()) {
        case 202 -> {
          checkAccepted(batch, answer, first);
          return Outcome.ACKED;
        }
        case 400 -> {
          if (!batch.poisoned()) {
            fault("refused what is right: " + answer.body());
          }
          return Outcome.REFUSED;
        }
        case 503 -> {
          if (answer.header("retry-after") == null) {
            fault("503 without Retry-After: " + answer.body());
          }
          return Outcome.UNKNOWN;
        }
        case 504 -> {
          return Outcome.UNKNOWN;
        }
        default -> {
          fault("answered " + answer.status() + ": " + answer.body());
          return Outcome.UNKNOWN;
        }
      }
    }

    /** What it says of new ones and duplicates; after an unknown call it may be either. */
    private void checkAccepted(Batch batch, Response answer, boolean first) {
      int size = batch.events().size();
      String expected =
          batch.again()
              ? "{\"accepted\":0,\"duplicates\":%d}".formatted(size)
              : "{\"accepted\":%d,\"duplicates\":0}".formatted(size);
      if (batch.poisoned() || ((first || batch.again()) && !answer.body().equals(expected))) {
        fault(
            "%s: expected %s, was %s".formatted(batch.events().getFirst().key(), expected, answer));
      }
    }
  }
}

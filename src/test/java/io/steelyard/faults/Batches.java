package io.steelyard.faults;

import io.steelyard.faults.Ledger.Sent;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.UUID;

/**
 * What one connection sends, decided by its seed: the same seed, the same keys in the same batches.
 */
final class Batches {
  private static final int KEPT_MAX = 200;
  private static final int SMALL_MAX = 4;
  private static final int EVENTS_MAX = 100;
  private static final int COUNT_MAX = 1_000_000;
  private static final int AGAIN_PERCENT = 20;
  private static final int POISONED_PERCENT = 3;
  private static final int LARGE_PERCENT = 15;

  /**
   * One request's events.
   *
   * @param again whether all of them were acknowledged before
   * @param poisoned whether one of them cannot be read, so that none may be stored
   */
  record Batch(List<Sent> events, boolean again, boolean poisoned) {
    byte[] body(Account account) {
      StringBuilder body = new StringBuilder(events.size() * 250).append('[');
      for (Sent event : events) {
        body.append(body.length() == 1 ? "" : ",")
            .append("{\"customerId\":\"")
            .append(account.customers().get(event.customer()))
            .append("\",\"eventName\":\"")
            .append(event.name())
            .append("\",\"generatedAt\":\"")
            .append(poisoned && event == events.getLast() ? "never" : text(event.atMillis()))
            .append("\",\"idempotencyKey\":\"")
            .append(event.key())
            .append("\",\"data\":{\"count\":")
            .append(event.count())
            .append(",\"id\":\"")
            .append(event.key())
            .append("\"}}");
      }
      return body.append(']').toString().getBytes(StandardCharsets.UTF_8);
    }

    private static String text(long atMillis) {
      return Instant.ofEpochMilli(atMillis).toString();
    }
  }

  private final SplittableRandom random;
  private final int customers;
  private final List<Batch> acknowledged = new ArrayList<>();

  Batches(long seed, int customers) {
    this.random = new SplittableRandom(seed);
    this.customers = customers;
  }

  /** The next one; one in five is an earlier one again. */
  Batch next() {
    boolean again = random.nextInt(100) < AGAIN_PERCENT;
    int which = random.nextInt(KEPT_MAX);
    if (again && !acknowledged.isEmpty()) {
      return new Batch(acknowledged.get(which % acknowledged.size()).events(), true, false);
    }
    boolean large = random.nextInt(100) < LARGE_PERCENT;
    int size = 1 + random.nextInt(large ? EVENTS_MAX : SMALL_MAX);
    List<Sent> events = new ArrayList<>(size);
    for (int i = 0; i < size; i++) {
      events.add(event());
    }
    return new Batch(events, false, random.nextInt(100) < POISONED_PERCENT);
  }

  private Sent event() {
    return new Sent(
        new UUID(random.nextLong(), random.nextLong()),
        random.nextInt(customers),
        random.nextInt(4) == 0 ? "token" : "call",
        1 + random.nextInt(COUNT_MAX),
        System.currentTimeMillis());
  }

  /** A pause before the next call, in milliseconds. */
  int pauseMs(int max) {
    return random.nextInt(max + 1);
  }

  void acknowledged(Batch batch) {
    if (batch.again() || batch.poisoned()) {
      return;
    }
    if (acknowledged.size() == KEPT_MAX) {
      acknowledged.set(random.nextInt(KEPT_MAX), batch);
    } else {
      acknowledged.add(batch);
    }
  }
}

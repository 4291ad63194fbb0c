package io.steelyard.domain;

import java.math.BigDecimal;
import java.time.Instant;
import java.util.UUID;

/**
 * What the folded events of one period and billable amount to, under every calculation. The order
 * of events makes no difference.
 *
 * @param min null, like max and latest, until an event brought a number
 * @param latestKey the key of the event that brought {@code latest}
 * @param uniques how many different values there were
 */
public record UsageTotal(
    long events,
    BigDecimal sum,
    BigDecimal min,
    BigDecimal max,
    BigDecimal latest,
    Instant latestAt,
    UUID latestKey,
    long uniques) {
  public static final UsageTotal NONE =
      new UsageTotal(0, BigDecimal.ZERO, null, null, null, null, null, 0);

  /** A total that grows event by event: many events make no more than one new total. */
  public static final class Tally {
    private UsageTotal before;
    private long events;
    private long uniques;
    private BigDecimal sum = BigDecimal.ZERO;
    private BigDecimal min;
    private BigDecimal max;
    private BigDecimal latest;
    private Instant latestAt;
    private UUID latestKey;

    public Tally(UsageTotal before) {
      this.before = before;
    }

    /**
     * Adds one event.
     *
     * @param number null for count and uniqueCount
     * @param firstOfItsValue whether no event before it had the same value
     */
    public void add(BigDecimal number, Instant at, UUID key, boolean firstOfItsValue) {
      events++;
      uniques += firstOfItsValue ? 1 : 0;
      if (number != null) {
        sum = sum.add(number);
        min = min == null ? number : min.min(number);
        max = max == null ? number : max.max(number);
        if (latestAt == null || isLater(at, key, latestAt, latestKey)) {
          latest = number;
          latestAt = at;
          latestKey = key;
        }
      }
    }

    public UsageTotal total() {
      if (events > 0) {
        before =
            before.merge(
                new UsageTotal(events, sum, min, max, latest, latestAt, latestKey, uniques));
        events = 0;
        uniques = 0;
        sum = BigDecimal.ZERO;
        min = null;
        max = null;
        latest = null;
        latestAt = null;
        latestKey = null;
      }
      return before;
    }
  }

  /** Both together. Values that both had are counted twice in {@link #uniques}: see to that. */
  public UsageTotal merge(UsageTotal other) {
    UsageTotal last = other.isLaterThan(this) ? other : this;
    return new UsageTotal(
        events + other.events,
        sum.add(other.sum),
        min == null ? other.min : other.min == null ? min : min.min(other.min),
        max == null ? other.max : other.max == null ? max : max.max(other.max),
        last.latest,
        last.latestAt,
        last.latestKey,
        uniques + other.uniques);
  }

  private boolean isLaterThan(UsageTotal other) {
    if (latestAt == null || other.latestAt == null) {
      return latestAt != null;
    }
    return isLater(latestAt, latestKey, other.latestAt, other.latestKey);
  }

  private static boolean isLater(Instant at, UUID key, Instant otherAt, UUID otherKey) {
    int order = at.compareTo(otherAt);
    return order > 0 || order == 0 && compareAsPostgres(key, otherKey) > 0;
  }

  /** As bytes; {@link UUID#compareTo} would order them as signed numbers. */
  private static int compareAsPostgres(UUID a, UUID b) {
    int high = Long.compareUnsigned(a.getMostSignificantBits(), b.getMostSignificantBits());
    return high != 0
        ? high
        : Long.compareUnsigned(a.getLeastSignificantBits(), b.getLeastSignificantBits());
  }

  /** The one quantity that is billed; zero when there was nothing. */
  public Quotient quantity(Calculation calculation) {
    return switch (calculation) {
      case SUM -> Quotient.of(sum);
      case COUNT -> Quotient.of(BigDecimal.valueOf(events));
      case MAX -> orZero(max);
      case MIN -> orZero(min);
      case AVERAGE -> events == 0 ? Quotient.ZERO : new Quotient(sum, BigDecimal.valueOf(events));
      case UNIQUE_COUNT -> Quotient.of(BigDecimal.valueOf(uniques));
      case LATEST -> orZero(latest);
    };
  }

  private static Quotient orZero(BigDecimal number) {
    return number == null ? Quotient.ZERO : Quotient.of(number);
  }
}

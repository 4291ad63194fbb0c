package io.steelyard.merchant;

import io.steelyard.bus.Call;
import io.steelyard.db.Sql;
import io.steelyard.domain.Environment;
import io.vertx.core.Future;
import io.vertx.sqlclient.SqlClient;
import io.vertx.sqlclient.Tuple;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;

/**
 * The one place that knows what time it is for a merchant: the system's time for a live merchant,
 * the time last set for a test merchant whose clock was set. Milliseconds.
 */
public final class MerchantClock {
  /** How far the clocks of two processes may be apart. */
  public static final Duration SKEW_MAX = Duration.ofSeconds(5);

  private static final String CLOCK_NOW = "SELECT clock_now FROM merchant WHERE id = $1";

  private final Clock system;

  public MerchantClock(Clock system) {
    this.system = system;
  }

  /** The time of the call's merchant, read within the caller's transaction. */
  public Future<Instant> now(SqlClient connection, Call call) {
    return read(connection, call).map(Reading::now);
  }

  /**
   * A merchant's time.
   *
   * @param frozen whether it stands still between two settings; work that fell due meanwhile is
   *     then dated when it fell due
   */
  public record Reading(Instant now, boolean frozen) {
    /**
     * When work is dated that fell due then.
     *
     * @param notBefore when that which it is for came into being
     */
    public Instant dated(Instant due, Instant notBefore) {
      if (!frozen) {
        return now;
      }
      return due.isBefore(notBefore) ? notBefore : due;
    }
  }

  /** As {@link #now}, and whether that is a clock which was set. */
  public Future<Reading> read(SqlClient connection, Call call) {
    if (call.merchant().environment() == Environment.LIVE) {
      return Future.succeededFuture(new Reading(systemNow(), false));
    }
    return connection
        .preparedQuery(CLOCK_NOW)
        .execute(Tuple.of(call.merchantId()))
        .map(rows -> Sql.instant(rows.iterator().next(), "clock_now"))
        .map(set -> new Reading(orSystem(set), set != null));
  }

  /** The time of a merchant whose {@code clock_now} the caller has read, null if it was not set. */
  public Instant orSystem(Instant clockNow) {
    return clockNow == null ? systemNow() : clockNow;
  }

  /** The system's time, for what belongs to no merchant. */
  public Instant systemNow() {
    return system.instant().truncatedTo(ChronoUnit.MILLIS);
  }
}

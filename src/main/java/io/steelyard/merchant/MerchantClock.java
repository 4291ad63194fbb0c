package io.steelyard.merchant;

import io.steelyard.bus.Call;
import io.steelyard.db.Sql;
import io.steelyard.domain.Environment;
import io.vertx.core.Future;
import io.vertx.sqlclient.SqlClient;
import io.vertx.sqlclient.Tuple;
import java.time.Clock;
import java.time.Instant;
import java.time.temporal.ChronoUnit;

/**
 * The one place that knows what time it is for a merchant: the system's time for a live merchant,
 * the time last set for a test merchant whose clock was set. Milliseconds.
 */
public final class MerchantClock {
  private static final String CLOCK_NOW = "SELECT clock_now FROM merchant WHERE id = $1";

  private final Clock system;

  public MerchantClock(Clock system) {
    this.system = system;
  }

  /** The time of the call's merchant, read within the caller's transaction. */
  public Future<Instant> now(SqlClient connection, Call call) {
    if (call.merchant().environment() == Environment.LIVE) {
      return Future.succeededFuture(systemNow());
    }
    return connection
        .preparedQuery(CLOCK_NOW)
        .execute(Tuple.of(call.merchantId()))
        .map(rows -> orSystem(Sql.instant(rows.iterator().next(), "clock_now")));
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

package io.steelyard.db;

import io.steelyard.bus.Failure;
import io.steelyard.bus.FailureException;
import io.vertx.core.VertxException;
import io.vertx.pgclient.PgException;
import io.vertx.sqlclient.ClosedConnectionException;
import java.io.IOException;
import java.nio.channels.ClosedChannelException;
import java.util.Map;
import java.util.concurrent.TimeoutException;

/** What an error of the database means to a caller, by SQLSTATE and constraint name. */
public final class SqlFailures {
  public static final Failure EXTERNAL_ID_TAKEN =
      new Failure.Conflict("external_id_taken", "A customer with this externalId exists.");

  /** Constraint name to the failure its violation means. */
  private static final Map<String, Failure> BY_CONSTRAINT =
      Map.of("customer_external_id_key", EXTERNAL_ID_TAKEN);

  private SqlFailures() {}

  public static Failure of(Throwable error) {
    if (error instanceof FailureException known) {
      return known.failure();
    }
    if (error instanceof PgException pg) {
      return ofState(pg);
    }
    String message = String.valueOf(error.getMessage());
    if (message.contains("wait queue") || message.contains("max pool wait queue size")) {
      return new Failure.Overloaded("overloaded", "The service is at its capacity. Try again.", 1);
    }
    if (error instanceof IOException
        || error instanceof TimeoutException
        || error instanceof ClosedChannelException
        || isConnectionLoss(error, message)) {
      return Failure.databaseDown();
    }
    return new Failure.Unexpected();
  }

  private static boolean isConnectionLoss(Throwable error, String message) {
    return error instanceof ClosedConnectionException
        || (error instanceof VertxException && message.contains("onnection"))
        || message.contains("Pool closed")
        || message.contains("Timeout waiting for connection")
        || message.equals("Timeout"); // the pool says only that when a transaction waits in vain
  }

  private static Failure ofState(PgException error) {
    Failure named = error.getConstraint() == null ? null : BY_CONSTRAINT.get(error.getConstraint());
    if (named != null) {
      return named;
    }
    String state = String.valueOf(error.getSqlState());
    return switch (state.length() < 2 ? "" : state.substring(0, 2)) {
      // connection lost, operator intervention, out of resources (disk full, too many clients)
      case "08", "57", "53", "58" -> Failure.databaseDown();
      // credentials or database changed under the running service: whoever changed them undoes it
      case "28", "3D" -> Failure.databaseDown();
      case "25" -> Failure.databaseDown(); // read-only: a standby while a failover goes on
      case "40", "55" ->
          new Failure.Unavailable("contention", "The request met a concurrent one. Try again.", 1);
      default -> new Failure.Unexpected();
    };
  }
}

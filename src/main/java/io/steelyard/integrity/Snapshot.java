package io.steelyard.integrity;

import io.steelyard.db.CustomerLocks;
import io.vertx.core.Future;
import io.vertx.sqlclient.SqlConnection;
import java.util.function.Supplier;

/** A transaction that sees one state of the books throughout, and writes nothing. */
final class Snapshot {
  private static final String FROM_NOW_ON =
      "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY;";

  // Locked before the snapshot is taken, or events could be dropped that it knows nothing of.
  private static final String KEEP_MONTHS = "LOCK TABLE ONLY event_chunk IN ACCESS SHARE MODE;";

  private static final String BEGIN = FROM_NOW_ON + KEEP_MONTHS;

  // Each node has a snapshot of its own, taken when it is first asked: all are asked here. Over one
  // connection each, since every connection would have another.
  private static final String BEGIN_ON_ALL_NODES =
      FROM_NOW_ON
          + "SET LOCAL citus.max_adaptive_executor_pool_size = 1;"
          + KEEP_MONTHS
          + """
          SELECT count(*) FROM late_event
           WHERE subscription_id = '00000000-0000-0000-0000-000000000000'
          """;

  private final boolean distributed;

  /**
   * @param distributed whether there are several nodes, whose snapshots have to be of one moment
   */
  Snapshot(boolean distributed) {
    this.distributed = distributed;
  }

  /** Does the work within; the connection is in no transaction before and after. */
  <T> Future<T> during(SqlConnection connection, Supplier<Future<T>> work) {
    if (!distributed) {
      return within(connection, BEGIN, work);
    }
    // No event is counted while the nodes take their snapshots, so that all have it or none.
    return CustomerLocks.lockAll(connection)
        .compose(
            locked ->
                within(
                    connection,
                    BEGIN_ON_ALL_NODES,
                    () -> CustomerLocks.unlockAll(connection).compose(done -> work.get())))
        .eventually(() -> CustomerLocks.unlockAll(connection)); // what a failure has left
  }

  private static <T> Future<T> within(
      SqlConnection connection, String begin, Supplier<Future<T>> work) {
    return connection
        .begin()
        .compose(
            transaction ->
                connection
                    .query(begin)
                    .execute()
                    .compose(begun -> work.get())
                    .eventually(transaction::rollback)); // nothing was written
  }
}

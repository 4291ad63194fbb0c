package io.steelyard.db;

import io.vertx.core.Future;
import io.vertx.sqlclient.SqlConnection;
import io.vertx.sqlclient.Tuple;
import java.util.Collection;
import java.util.UUID;

/**
 * Serialises what must not happen at once for one customer: folding usage, and inserting periods
 * that usage may fall in. Whoever holds the lock reads periods after taking it, and nothing of the
 * customer's can slip between the two. Held to the end of the transaction.
 */
public final class CustomerLocks {
  /** The first half of the advisory lock's key: "usag". */
  private static final int NAMESPACE = 0x75736167;

  // A bounded number of locks, since a fold may take those of thousands of customers. Customers
  // that share a slot merely wait for each other.
  private static final int SLOTS = 1024;

  // Slots in ascending order, so that two takers never deadlock.
  private static final String LOCK =
      "SELECT pg_advisory_xact_lock($1, slot) FROM unnest($2::integer[]) AS slot";

  private static final String LOCK_ALL =
      "SELECT count(pg_advisory_lock($1, slot)) FROM generate_series(0, $2 - 1) AS slot";

  // Those that are held: a failure may have come before all were.
  private static final String UNLOCK_ALL =
      """
      SELECT count(pg_advisory_unlock(classid::integer, objid::integer))
        FROM pg_locks
       WHERE locktype = 'advisory' AND classid::integer = $1::integer AND objsubid = 2
         AND pid = pg_backend_pid()
      """;

  private CustomerLocks() {}

  public static Future<Void> lock(SqlConnection transaction, Collection<UUID> customerIds) {
    if (customerIds.isEmpty()) {
      return Future.succeededFuture();
    }
    Integer[] slots =
        customerIds.stream().map(CustomerLocks::slot).sorted().distinct().toArray(Integer[]::new);
    return transaction.preparedQuery(LOCK).execute(Tuple.of(NAMESPACE, (Object) slots)).mapEmpty();
  }

  /** Those of all customers, until {@link #unlockAll}, whatever transactions come between. */
  public static Future<Void> lockAll(SqlConnection session) {
    return session.preparedQuery(LOCK_ALL).execute(Tuple.of(NAMESPACE, SLOTS)).mapEmpty();
  }

  /** What {@link #lockAll} took of them; the caller is in no transaction that holds others. */
  public static Future<Void> unlockAll(SqlConnection session) {
    return session.preparedQuery(UNLOCK_ALL).execute(Tuple.of(NAMESPACE)).mapEmpty();
  }

  private static int slot(UUID customerId) {
    // The random low bits of a version 7 UUID; its high bits are the time.
    return (int) (customerId.getLeastSignificantBits() & (SLOTS - 1));
  }
}

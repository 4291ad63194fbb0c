package io.steelyard.support;

import io.steelyard.domain.Id;
import io.steelyard.domain.IdKind;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.UUID;

/** The lock of a customer, as the service's own {@code db.CustomerLocks} takes it. */
public final class CustomerLock {
  private static final int NAMESPACE = 0x75736167;
  private static final int SLOTS = 1024;

  private CustomerLock() {}

  /** Waits for it, and holds it until the connection's transaction ends. */
  public static void hold(Connection connection, String customerId) throws SQLException {
    connection.setAutoCommit(false);
    connection
        .createStatement()
        .execute(taking(Id.parse(IdKind.CUSTOMER, customerId).orElseThrow().uuid()));
  }

  /** The statement that waits for it, within a transaction. */
  public static String taking(UUID customer) {
    long slot = customer.getLeastSignificantBits() & (SLOTS - 1);
    return "SELECT pg_advisory_xact_lock(%d, %d)".formatted(NAMESPACE, slot);
  }
}

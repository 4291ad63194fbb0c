package io.steelyard.support;

import io.steelyard.domain.Id;
import io.steelyard.domain.IdKind;
import java.sql.Connection;
import java.sql.SQLException;

/** The lock of a customer, as the service's own {@code db.CustomerLocks} takes it. */
public final class CustomerLock {
  private static final int NAMESPACE = 0x75736167;
  private static final int SLOTS = 1024;

  private CustomerLock() {}

  /** Waits for it, and holds it until the connection's transaction ends. */
  public static void hold(Connection connection, String customerId) throws SQLException {
    connection.setAutoCommit(false);
    long bits =
        Id.parse(IdKind.CUSTOMER, customerId).orElseThrow().uuid().getLeastSignificantBits();
    connection
        .createStatement()
        .execute("SELECT pg_advisory_xact_lock(%d, %d)".formatted(NAMESPACE, bits & (SLOTS - 1)));
  }
}

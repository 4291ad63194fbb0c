package io.steelyard.integrity;

import io.steelyard.bus.Call;
import io.steelyard.db.Sql;
import io.steelyard.domain.Environment;
import io.steelyard.domain.IdKind;
import io.steelyard.domain.WireName;
import io.vertx.core.Future;
import io.vertx.sqlclient.SqlConnection;
import io.vertx.sqlclient.Tuple;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/** Whose turn a round is, and through whom it goes. */
final class RoundStore {
  // Any number that no other advisory lock of the service has; held by the session, so that it goes
  // with whoever dies.
  private static final long LOCK = 0x1472_6174_6573L;

  private static final String TRY_LOCK = "SELECT pg_try_advisory_lock($1)";
  private static final String UNLOCK = "SELECT pg_advisory_unlock($1)";

  private static final String MERCHANTS =
      "SELECT id, environment, timezone FROM merchant WHERE id > $1 ORDER BY id LIMIT $2";

  /** Takes the turn of this connection's session; false while another has it. */
  Future<Boolean> tryLock(SqlConnection connection) {
    return connection
        .preparedQuery(TRY_LOCK)
        .execute(Tuple.of(LOCK))
        .map(rows -> rows.iterator().next().getBoolean(0));
  }

  Future<Void> unlock(SqlConnection connection) {
    return connection.preparedQuery(UNLOCK).execute(Tuple.of(LOCK)).mapEmpty();
  }

  /** The next merchants by id. */
  Future<List<Call.Merchant>> merchants(SqlConnection connection, UUID after, int max) {
    return connection
        .preparedQuery(MERCHANTS)
        .execute(Tuple.of(after, max))
        .map(
            rows -> {
              List<Call.Merchant> merchants = new ArrayList<>(rows.size());
              rows.forEach(
                  row ->
                      merchants.add(
                          new Call.Merchant(
                              Sql.id(row, "id", IdKind.MERCHANT),
                              WireName.parse(Environment.class, row.getString("environment")),
                              ZoneId.of(row.getString("timezone")))));
              return merchants;
            });
  }
}

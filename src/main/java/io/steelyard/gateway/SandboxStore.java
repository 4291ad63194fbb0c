package io.steelyard.gateway;

import io.steelyard.db.Sql;
import io.steelyard.json.Json;
import io.vertx.core.Future;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.RowSet;
import io.vertx.sqlclient.SqlClient;
import io.vertx.sqlclient.Tuple;
import java.time.Instant;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/** The sandbox gateway's memory of the sessions it opened. */
final class SandboxStore {
  // The update changes nothing: it makes RETURNING answer the session that was there.
  private static final String OPEN =
      """
      INSERT INTO sandbox_checkout_session AS session
        (merchant_id, id, customer, setup_intent, success_url, metadata, status,
         created_at, expires_at)
      VALUES ($1, $2, $3, $4, $5, $6::text::json, $7, $8, $9)
      ON CONFLICT (merchant_id, id) DO UPDATE SET status = session.status
      RETURNING id, customer, setup_intent, success_url, metadata::text AS metadata, status,
        created_at, expires_at
      """;

  private static final String FIND =
      """
      SELECT id, customer, setup_intent, success_url, metadata::text AS metadata, status,
        created_at, expires_at
      FROM sandbox_checkout_session
      WHERE merchant_id = $1 AND id = $2
      """;

  private static final String COMPLETE =
      """
      UPDATE sandbox_checkout_session
      SET status = 'complete'
      WHERE merchant_id = $1 AND id = $2 AND status = 'open' AND expires_at > $3
      RETURNING id, customer, setup_intent, success_url, metadata::text AS metadata, status,
        created_at, expires_at
      """;

  private SandboxStore() {}

  record Session(
      String id,
      String customer,
      String setupIntent,
      String successUrl,
      Map<String, Object> metadata,
      String status,
      Instant createdAt,
      Instant expiresAt) {}

  /** Stores {@code session} unless one with its id is there; answers the stored one. */
  static Future<Session> open(SqlClient client, UUID merchantId, Session session) {
    return client
        .preparedQuery(OPEN)
        .execute(
            Tuple.of(merchantId, session.id(), session.customer(), session.setupIntent())
                .addString(session.successUrl())
                .addString(Json.encodeText(session.metadata()))
                .addString(session.status())
                .addOffsetDateTime(Sql.time(session.createdAt()))
                .addOffsetDateTime(Sql.time(session.expiresAt())))
        .map(rows -> session(rows.iterator().next()));
  }

  static Future<Optional<Session>> find(SqlClient client, UUID merchantId, String id) {
    return client.preparedQuery(FIND).execute(Tuple.of(merchantId, id)).map(SandboxStore::first);
  }

  /** Completes the session if it is open and not expired at {@code now}; empty otherwise. */
  static Future<Optional<Session>> complete(
      SqlClient client, UUID merchantId, String id, Instant now) {
    return client
        .preparedQuery(COMPLETE)
        .execute(Tuple.of(merchantId, id, Sql.time(now)))
        .map(SandboxStore::first);
  }

  private static Optional<Session> first(RowSet<Row> rows) {
    return rows.size() == 0 ? Optional.empty() : Optional.of(session(rows.iterator().next()));
  }

  private static Session session(Row row) {
    return new Session(
        row.getString("id"),
        row.getString("customer"),
        row.getString("setup_intent"),
        row.getString("success_url"),
        Json.readMap(row.getString("metadata")),
        row.getString("status"),
        Sql.instant(row, "created_at"),
        Sql.instant(row, "expires_at"));
  }
}

package io.steelyard.db;

import io.steelyard.bus.IdempotencyKey;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.RowSet;
import io.vertx.sqlclient.SqlClient;
import io.vertx.sqlclient.SqlConnection;
import io.vertx.sqlclient.Tuple;
import java.time.Instant;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/** The rows of idempotency keys, and the locks of those whose requests are under way. */
public final class IdempotencyStore {
  /** Waits for nobody; held until the end of the transaction. */
  private static final String TRY_LOCK =
      """
      SELECT id, pg_try_advisory_xact_lock(lock) AS held
        FROM unnest($1::uuid[], $2::bigint[]) AS t(id, lock)
      """;

  private static final String FIND =
      """
      SELECT id, request, answer, sealed, attempt, claimed_until, expires_at
        FROM idempotency_key
       WHERE merchant_id = $1 AND id = ANY ($2::uuid[]) AND expires_at > $3::timestamptz
      """;

  /** In place of one that has expired, too. */
  private static final String PUT =
      """
      INSERT INTO idempotency_key (merchant_id, id, request, answer, sealed, expires_at)
      SELECT $1, t.id, t.request, t.answer, $5, $6::timestamptz
        FROM unnest($2::uuid[], $3::uuid[], $4::bytea[]) AS t(id, request, answer)
      ON CONFLICT (merchant_id, id) DO UPDATE
         SET request = excluded.request, answer = excluded.answer, sealed = excluded.sealed,
             attempt = NULL, claimed_until = NULL, expires_at = excluded.expires_at
      """;

  private static final String BEGIN =
      """
      INSERT INTO idempotency_key
        (merchant_id, id, request, sealed, attempt, claimed_until, expires_at)
      VALUES ($1, $2, $3, false, $4, $5::timestamptz, $6::timestamptz)
      ON CONFLICT (merchant_id, id) DO UPDATE
         SET request = excluded.request, answer = NULL, sealed = false,
             attempt = excluded.attempt, claimed_until = excluded.claimed_until,
             expires_at = excluded.expires_at
      """;

  private static final String FINISH =
      """
      UPDATE idempotency_key SET answer = $4, sealed = $5, claimed_until = NULL
       WHERE merchant_id = $1 AND id = $2 AND attempt = $3 AND answer IS NULL
      """;

  private static final String RELEASE =
      """
      UPDATE idempotency_key SET claimed_until = $4::timestamptz
       WHERE merchant_id = $1 AND id = $2 AND attempt = $3 AND answer IS NULL
      """;

  private static final String FORGET =
      """
      DELETE FROM idempotency_key
       WHERE merchant_id = $1 AND id = $2 AND attempt = $3 AND answer IS NULL
      """;

  private static final String DELETE_EXPIRED =
      """
      DELETE FROM idempotency_key k
       USING (SELECT merchant_id, id FROM idempotency_key
               WHERE expires_at <= $1::timestamptz
               ORDER BY expires_at LIMIT $2 FOR UPDATE SKIP LOCKED) AS expired
       WHERE k.merchant_id = expired.merchant_id AND k.id = expired.id
      """;

  /**
   * A row that has not expired.
   *
   * @param answer null while a gateway is asked
   * @param attempt null unless a gateway is asked
   */
  record Stored(
      UUID request,
      byte[] answer,
      boolean sealed,
      UUID attempt,
      Instant claimedUntil,
      Instant expiresAt) {}

  /**
   * How a key was found.
   *
   * @param held whether this transaction is the only one at it
   */
  record Claim(boolean held, Optional<Stored> stored) {}

  /** One answer to store. */
  record Answered(IdempotencyKey key, byte[] answer) {}

  /**
   * Claims the keys for this transaction as far as nobody else has them, and reads what is stored:
   * in that order, so that who has the lock sees what its holder before has committed.
   */
  Future<Map<UUID, Claim>> claim(SqlConnection tx, UUID owner, Collection<UUID> ids, Instant now) {
    UUID[] wanted = ids.toArray(UUID[]::new);
    Long[] locks = ids.stream().map(id -> lock(owner, id)).toArray(Long[]::new);
    Future<RowSet<Row>> locked =
        tx.preparedQuery(TRY_LOCK).execute(Tuple.tuple().addValue(wanted).addValue(locks));
    Future<RowSet<Row>> found =
        tx.preparedQuery(FIND).execute(Tuple.of(owner).addValue(wanted).addValue(Sql.time(now)));
    return Transactions.pipelined(() -> locked, () -> found)
        .map(
            done -> {
              Map<UUID, Stored> stored = new HashMap<>();
              found.result().forEach(row -> stored.put(row.getUUID("id"), stored(row)));
              Map<UUID, Claim> claims = new HashMap<>();
              locked
                  .result()
                  .forEach(
                      row -> {
                        UUID id = row.getUUID("id");
                        claims.put(
                            id,
                            new Claim(row.getBoolean("held"), Optional.ofNullable(stored.get(id))));
                      });
              return claims;
            });
  }

  /** Both are random enough for 64 bits of them to be another's once in ages. */
  private static long lock(UUID owner, UUID id) {
    return id.getLeastSignificantBits() ^ owner.getLeastSignificantBits();
  }

  private static Stored stored(Row row) {
    Buffer answer = row.getBuffer("answer");
    return new Stored(
        row.getUUID("request"),
        answer == null ? null : answer.getBytes(),
        row.getBoolean("sealed"),
        row.getUUID("attempt"),
        Sql.instant(row, "claimed_until"),
        Sql.instant(row, "expires_at"));
  }

  /** Stores answers whose keys the transaction has claimed. */
  Future<Void> put(
      SqlConnection tx, UUID owner, List<Answered> answers, boolean sealed, Instant expiresAt) {
    Tuple parameters =
        Tuple.of(owner)
            .addValue(answers.stream().map(each -> each.key().id()).toArray(UUID[]::new))
            .addValue(answers.stream().map(each -> each.key().request()).toArray(UUID[]::new))
            .addValue(
                answers.stream().map(each -> Buffer.buffer(each.answer())).toArray(Buffer[]::new))
            .addValue(sealed)
            .addValue(Sql.time(expiresAt));
    return tx.preparedQuery(PUT).execute(parameters).mapEmpty();
  }

  /** Stores that a gateway is asked under {@code attempt}, by whoever has claimed the key. */
  Future<Void> begin(
      SqlConnection tx,
      UUID owner,
      IdempotencyKey key,
      UUID attempt,
      Instant claimedUntil,
      Instant expiresAt) {
    return tx.preparedQuery(BEGIN)
        .execute(
            Tuple.of(owner, key.id(), key.request(), attempt)
                .addValue(Sql.time(claimedUntil))
                .addValue(Sql.time(expiresAt)))
        .mapEmpty();
  }

  /** Stores what an attempt came to; the first that says so is right. */
  Future<Void> finish(
      SqlClient client, UUID owner, UUID id, UUID attempt, byte[] answer, boolean sealed) {
    return client
        .preparedQuery(FINISH)
        .execute(Tuple.of(owner, id, attempt, Buffer.buffer(answer), sealed))
        .mapEmpty();
  }

  /** Lets the same request ask again under the same attempt. */
  Future<Void> release(SqlClient client, UUID owner, UUID id, UUID attempt, Instant now) {
    return client
        .preparedQuery(RELEASE)
        .execute(Tuple.of(owner, id, attempt, Sql.time(now)))
        .mapEmpty();
  }

  /** Frees the key of an attempt that had no effect. */
  Future<Void> forget(SqlClient client, UUID owner, UUID id, UUID attempt) {
    return client.preparedQuery(FORGET).execute(Tuple.of(owner, id, attempt)).mapEmpty();
  }

  /**
   * Deletes up to {@code max} keys of all merchants that have expired, and waits for none that is
   * being replaced.
   *
   * @return how many there were
   */
  public Future<Integer> deleteExpired(SqlClient client, Instant now, int max) {
    return client
        .preparedQuery(DELETE_EXPIRED)
        .execute(Tuple.of(Sql.time(now), max))
        .map(RowSet::rowCount);
  }
}

package io.steelyard.db;

import io.steelyard.domain.Id;
import io.steelyard.domain.IdKind;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.sqlclient.ClosedConnectionException;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.SqlConnection;
import io.vertx.sqlclient.Transaction;
import io.vertx.sqlclient.Tuple;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.function.Supplier;

/** Conversions between the database's types and ours. */
public final class Sql {
  private static final UUID NO_ROW = new UUID(0, 0);

  private Sql() {}

  /**
   * Sends statements of one connection at once; the server carries them out in their order, and in
   * a transaction none behind one that it has refused. Completes when every one of them has ended,
   * also after a failure: what still follows from one of them must not come after the rollback.
   * Fails with what failed first.
   */
  @SafeVarargs
  public static Future<Void> pipelined(Supplier<? extends Future<?>>... statements) {
    List<Supplier<? extends Future<?>>> list = new ArrayList<>();
    for (Supplier<? extends Future<?>> statement : statements) {
      list.add(statement);
    }
    return pipelined(list);
  }

  /** As {@link #pipelined(Supplier...)}. */
  public static Future<Void> pipelined(
      Collection<? extends Supplier<? extends Future<?>>> statements) {
    List<Future<?>> sent = new ArrayList<>();
    for (Supplier<? extends Future<?>> statement : statements) {
      try {
        sent.add(statement.get());
      } catch (RuntimeException e) { // those before it are on their way
        sent.add(Future.failedFuture(e));
        break;
      }
    }
    AtomicReference<Throwable> first = new AtomicReference<>();
    sent.forEach(each -> each.onFailure(error -> first.compareAndSet(null, error)));
    return Future.join(sent)
        .transform(
            done -> done.succeeded() ? Future.succeededFuture() : Future.failedFuture(first.get()));
  }

  /**
   * As {@link Pool#withTransaction}, but ends as soon as the connection is lost: what was sent
   * {@link #pipelined} may then never be heard of. Whether it was committed is not known if it
   * fails with a {@link ClosedConnectionException}.
   */
  public static <T> Future<T> transaction(Pool pool, Function<SqlConnection, Future<T>> work) {
    return pool.getConnection()
        .compose(
            connection -> {
              Promise<T> outcome = Promise.promise();
              connection.closeHandler(lost -> outcome.tryFail(ClosedConnectionException.INSTANCE));
              connection
                  .begin()
                  .compose(transaction -> ended(transaction, work, connection))
                  .onSuccess(outcome::tryComplete)
                  .onFailure(outcome::tryFail);
              return outcome.future().onComplete(ended -> connection.close());
            });
  }

  private static <T> Future<T> ended(
      Transaction transaction, Function<SqlConnection, Future<T>> work, SqlConnection connection) {
    return Future.<Void>succeededFuture()
        .compose(begun -> work.apply(connection)) // also where it throws
        .transform(
            worked ->
                worked.succeeded()
                    ? transaction.commit().map(worked.result())
                    : transaction
                        .rollback()
                        .transform(undone -> Future.failedFuture(worked.cause())));
  }

  /** A timestamptz parameter; null stays null. */
  public static OffsetDateTime time(Instant instant) {
    return instant == null ? null : instant.atOffset(ZoneOffset.UTC);
  }

  /** A timestamptz column; null stays null. */
  public static Instant instant(Row row, String column) {
    OffsetDateTime time = row.getOffsetDateTime(column);
    return time == null ? null : time.toInstant();
  }

  /** A uuid column as an id; null stays null. */
  public static Id id(Row row, String column, IdKind kind) {
    UUID uuid = row.getUUID(column);
    return uuid == null ? null : new Id(kind, uuid);
  }

  /** The UUID that {@code text} spells as an id of this kind, or null, which matches no row. */
  public static UUID uuid(IdKind kind, String text) {
    return Id.parse(kind, text).map(Id::uuid).orElse(null);
  }

  /** As {@link #uuid}, for a filter where null means any: what is no id is one that no row has. */
  public static UUID filter(IdKind kind, String text) {
    return text == null ? null : Id.parse(kind, text).map(Id::uuid).orElse(NO_ROW);
  }

  /** Adds a condition that the column has the value, unless that is null. */
  public static void and(String column, Object value, StringBuilder where, Tuple parameters) {
    if (value != null) {
      parameters.addValue(value);
      where.append(" AND ").append(column).append(" = $").append(parameters.size());
    }
  }
}

package io.steelyard.db;

import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.sqlclient.ClosedConnectionException;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.SqlConnection;
import io.vertx.sqlclient.Transaction;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import java.util.function.Supplier;

/** Transactions, and statements that are sent in them together. */
public final class Transactions {
  private Transactions() {}

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
   * {@link #pipelined} may then never be heard of, and {@code work} may still be waiting. Whether
   * it was committed is not known if it fails with a {@link ClosedConnectionException}.
   */
  public static <T> Future<T> run(Pool pool, Function<SqlConnection, Future<T>> work) {
    return pool.getConnection()
        .compose(
            connection -> {
              Promise<T> outcome = Promise.promise();
              // later: the pool, which hears of it after us, has let go of it by then as a rule
              connection.closeHandler(
                  lost ->
                      Vertx.currentContext()
                          .runOnContext(
                              gone -> outcome.tryFail(ClosedConnectionException.INSTANCE)));
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
}

package io.steelyard.usage;

import static io.steelyard.usage.UsageFixture.await;

import io.steelyard.support.PostgresSupport;
import io.vertx.core.Future;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.SqlConnection;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.function.Function;

/** Counted events on a database of their own, put there as folds would. */
final class ChunkFixture implements AutoCloseable {
  private static final int STATEMENT_MS = 20_000;

  final UsageFixture usage = new UsageFixture();
  final Pool pool = usage.pools.aggregation(usage.vertx, STATEMENT_MS);

  /** Another process. */
  static ChunkStore store() {
    return new ChunkStore(() -> UsageFixture.NOW);
  }

  Future<Void> save(SqlConnection transaction, List<UsageEvent> fold) {
    return store().save(transaction, CustomerEvents.of(stored(usage.merchant, fold)));
  }

  /** One fold. */
  void save(List<UsageEvent> fold) {
    inTransaction(transaction -> save(transaction, fold));
  }

  <T> T inTransaction(Function<SqlConnection, Future<T>> work) {
    return await(pool.withTransaction(work));
  }

  static List<StoredEvent> stored(UUID merchant, List<UsageEvent> events) {
    byte[] content = UsageEvent.encoded(events).columns().content();
    byte[] array = new byte[content.length + 1];
    array[0] = '[';
    System.arraycopy(content, 0, array, 1, content.length);
    array[content.length] = ']';
    return new ArrayList<>(EventContent.ofBatch(merchant, array, null));
  }

  List<String> column(String sql) {
    return PostgresSupport.column(usage.endpoint, sql);
  }

  @Override
  public void close() {
    await(pool.close());
    usage.close();
  }
}

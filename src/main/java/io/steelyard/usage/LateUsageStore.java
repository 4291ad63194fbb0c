package io.steelyard.usage;

import io.steelyard.db.Columns;
import io.steelyard.usage.Matching.Hit;
import io.vertx.core.Future;
import io.vertx.sqlclient.SqlConnection;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;

/** Notes what was counted in periods whose usage is on an invoice already, for the next one. */
final class LateUsageStore {
  // The customer's lock is held: the invoice that takes these rows is not being made meanwhile.
  private static final String EVENTS =
      """
      INSERT INTO late_event (merchant_id, subscription_id, period_index, key)
      SELECT e.*
      FROM unnest($1::uuid[], $2::uuid[], $3::integer[], $4::uuid[]) AS e
      ON CONFLICT DO NOTHING
      """;

  private static final String PERIODS =
      """
      INSERT INTO rebill (merchant_id, subscription_id, period_index, usage, fixed, since, ended)
      SELECT p.merchant_id, p.subscription_id, p.period_index, true, false, p.since,
             s.status IN ('ended', 'deleted')
      FROM unnest($1::uuid[], $2::uuid[], $3::integer[], $4::timestamptz[])
           AS p (merchant_id, subscription_id, period_index, since)
      JOIN subscription s ON s.merchant_id = p.merchant_id AND s.id = p.subscription_id
      ON CONFLICT (subscription_id, period_index) DO UPDATE
      SET usage = true, ended = excluded.ended
      """;

  private record LateEvent(UsagePeriod.Ref period, UUID key) {}

  /**
   * @param late in periods that are closed
   */
  Future<Void> save(SqlConnection transaction, List<Hit> late) {
    if (late.isEmpty()) {
      return Future.succeededFuture();
    }
    Set<LateEvent> events =
        late.stream()
            .map(hit -> new LateEvent(hit.meter().period().ref(), hit.event().key()))
            .collect(Collectors.toSet());
    Set<UsagePeriod> periods =
        late.stream().map(hit -> hit.meter().period()).collect(Collectors.toSet());
    return transaction
        .preparedQuery(EVENTS)
        .execute(
            new Columns<>(events)
                .also(PeriodColumns.of(LateEvent::period))
                .uuids(LateEvent::key)
                .and())
        .compose(done -> rebill(transaction, periods));
  }

  private static Future<Void> rebill(SqlConnection transaction, Collection<UsagePeriod> periods) {
    return transaction
        .preparedQuery(PERIODS)
        .execute(
            new Columns<>(periods)
                .also(PeriodColumns.of(UsagePeriod::ref))
                .times(UsagePeriod::now)
                .and())
        .mapEmpty();
  }
}

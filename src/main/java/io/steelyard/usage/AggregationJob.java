package io.steelyard.usage;

import io.vertx.core.Future;
import io.vertx.sqlclient.Pool;

/** A kind of work that the aggregation does in claims, each in a transaction of its own. */
sealed interface AggregationJob permits BatchFold, PeriodBackfill {
  /** Does one claim; false when there was nothing to claim. */
  Future<Boolean> runOnce(Pool pool);

  ClaimPace<?> pace();
}

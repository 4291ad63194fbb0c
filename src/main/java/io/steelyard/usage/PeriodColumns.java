package io.steelyard.usage;

import io.steelyard.db.Columns;
import java.util.function.Function;
import java.util.function.UnaryOperator;

/** The three columns of a period's key. */
final class PeriodColumns {
  private PeriodColumns() {}

  static <T> UnaryOperator<Columns<T>> of(Function<T, UsagePeriod.Ref> ref) {
    return columns ->
        columns
            .uuids(row -> ref.apply(row).merchantId())
            .uuids(row -> ref.apply(row).subscriptionId())
            .integers(row -> ref.apply(row).index());
  }
}

package io.steelyard.integrity;

import io.steelyard.db.Sql;
import io.steelyard.domain.IdKind;
import io.steelyard.integrity.IntegrityMessages.Check;
import io.vertx.core.Future;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.Tuple;
import java.util.List;

/**
 * A check that is one query.
 *
 * @param subjects what the findings are about
 * @param sql finds faults as {@code subject}, {@code detail} and, the same in each row, how many
 *     {@code faults} there are; $1 is the merchant, $2 how many rows to give
 */
record Rule(Check check, IdKind subjects, String sql) {
  /** One after the other. */
  static Future<Void> checkAll(Inspection inspection, List<Rule> rules) {
    Future<Void> checked = Future.succeededFuture();
    for (Rule rule : rules) {
      checked = checked.compose(before -> inspection.goOn()).compose(go -> rule.check(inspection));
    }
    return checked;
  }

  private Future<Void> check(Inspection inspection) {
    return inspection
        .snapshot()
        .preparedQuery(sql)
        .execute(Tuple.of(inspection.merchantId(), Inspection.FINDINGS_MAX))
        .map(
            rows -> {
              long faults = 0;
              for (Row row : rows) {
                faults = row.getLong("faults");
                inspection.found(check, Sql.id(row, "subject", subjects), row.getString("detail"));
              }
              inspection.foundMore(check, faults - rows.size());
              return null;
            });
  }

  /** Adds what {@code countSql} counts of the merchant's, $1, to the subjects looked at. */
  static Future<Void> count(Inspection inspection, Check check, String countSql) {
    return inspection
        .snapshot()
        .preparedQuery(countSql)
        .execute(Tuple.of(inspection.merchantId()))
        .map(
            rows -> {
              inspection.checked(check, rows.iterator().next().getLong(0));
              return null;
            });
  }
}

package io.steelyard.invoice;

import io.steelyard.db.Sql;
import io.steelyard.domain.Actor;
import io.steelyard.domain.InvoiceStatus;
import io.steelyard.invoice.TransitionStore.Cause;
import io.steelyard.invoice.TransitionStore.InvoiceChange;
import io.vertx.core.Future;
import io.vertx.sqlclient.SqlClient;
import io.vertx.sqlclient.Tuple;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.UUID;

/** Issued invoices whose due date has passed. */
public final class OverdueStore {
  private static final String CLAIM =
      """
      SELECT id FROM invoice
       WHERE merchant_id = $1 AND status = 'issued' AND due_date < $2
       ORDER BY due_date LIMIT $3
         FOR NO KEY UPDATE SKIP LOCKED
      """;

  private final TransitionStore transitions = new TransitionStore();

  /**
   * Marks up to {@code max} of them.
   *
   * @param now the merchant's time
   * @return how many
   */
  public Future<Integer> markOverdue(
      SqlClient tx, UUID merchantId, Instant now, int max, Instant systemNow) {
    return tx.preparedQuery(CLAIM)
        .execute(Tuple.of(merchantId, Sql.time(now), max))
        .compose(
            rows -> {
              List<InvoiceChange> changes = new ArrayList<>(rows.size());
              rows.forEach(
                  row ->
                      changes.add(
                          new InvoiceChange(
                              row.getUUID("id"),
                              InvoiceStatus.ISSUED,
                              InvoiceStatus.OVERDUE,
                              now)));
              return transitions.moveInvoices(
                  tx,
                  merchantId,
                  changes,
                  new Cause(Actor.BILLING, "the due date has passed", null, systemNow));
            })
        .map(Set::size);
  }
}

package io.steelyard.integrity;

import io.steelyard.domain.IdKind;
import io.steelyard.integrity.IntegrityMessages.Check;
import io.vertx.core.Future;
import java.util.List;

/** What invoices amount to, how they are numbered, and which boundary they are for. */
final class InvoiceStore {
  private static final String COUNT = "SELECT count(*) FROM invoice WHERE merchant_id = $1";

  private static final String TOTALS =
      """
      SELECT i.id AS subject,
             format('the total is %s, the lines add up to %s',
                    trim_scale(i.total), trim_scale(l.sum)) AS detail,
             count(*) OVER () AS faults
        FROM invoice i
       CROSS JOIN LATERAL (
         SELECT coalesce(sum(l.amount), 0) AS sum FROM invoice_line_item l
          WHERE l.merchant_id = $1 AND l.invoice_id = i.id) l
       WHERE i.merchant_id = $1 AND i.total <> l.sum
       ORDER BY i.id LIMIT $2
      """;

  // round() of numeric rounds halves away from zero, as Money does.
  private static final String ROUNDING =
      """
      SELECT l.id AS subject,
             format('the amount is %s, rounded from %s',
                    trim_scale(l.amount), trim_scale(l.exact_amount)) AS detail,
             count(*) OVER () AS faults
        FROM invoice i
        JOIN invoice_line_item l ON l.merchant_id = $1 AND l.invoice_id = i.id
       WHERE i.merchant_id = $1 AND l.kind IN ('advance', 'arrears')
         AND l.amount <> round(l.exact_amount, 2)
       ORDER BY l.id LIMIT $2
      """;

  private static final String GAPS =
      """
      SELECT n.id AS subject,
             CASE WHEN n.vanity_id = n.before
                  THEN format('number %s was given twice', n.vanity_id)
                  ELSE format('numbers %s to %s are missing', n.before + 1, n.vanity_id - 1)
             END AS detail,
             count(*) OVER () AS faults
        FROM (SELECT id, vanity_id,
                     lag(vanity_id, 1, 0::bigint) OVER (ORDER BY vanity_id, id) AS before
                FROM invoice WHERE merchant_id = $1) n
       WHERE n.vanity_id <> n.before + 1
       ORDER BY n.vanity_id, n.id LIMIT $2
      """;

  private static final String LAST =
      """
      SELECT m.id AS subject,
             format('the last number given is %s, the highest is %s', n.last, i.highest) AS detail,
             count(*) OVER () AS faults
        FROM merchant m
       CROSS JOIN LATERAL (
         SELECT coalesce(max(last), 0) AS last FROM invoice_number WHERE merchant_id = $1) n
       CROSS JOIN LATERAL (
         SELECT coalesce(max(vanity_id), 0) AS highest FROM invoice WHERE merchant_id = $1) i
       WHERE m.id = $1 AND n.last <> i.highest LIMIT $2
      """;

  private static final String BOUNDARIES =
      """
      SELECT subscription_id AS subject,
             format('boundary %s has %s invoices', boundary_index, count(*)) AS detail,
             count(*) OVER () AS faults
        FROM invoice
       WHERE merchant_id = $1
       GROUP BY subscription_id, boundary_index HAVING count(*) > 1
       ORDER BY subscription_id, boundary_index LIMIT $2
      """;

  private static final String LINE_PERIODS =
      """
      SELECT l.id AS subject,
             format('a line of kind %s for period %s is on the invoice of boundary %s',
                    l.kind, l.period_index, i.boundary_index) AS detail,
             count(*) OVER () AS faults
        FROM invoice i
        JOIN invoice_line_item l ON l.merchant_id = $1 AND l.invoice_id = i.id
       WHERE i.merchant_id = $1
         AND CASE l.kind WHEN 'advance' THEN l.period_index <> i.boundary_index
                         WHEN 'arrears' THEN l.period_index <> i.boundary_index - 1
                         ELSE l.period_index >= i.boundary_index END
       ORDER BY l.id LIMIT $2
      """;

  private static final List<Rule> RULES =
      List.of(
          new Rule(Check.TOTALS, IdKind.INVOICE, TOTALS),
          new Rule(Check.TOTALS, IdKind.LINE_ITEM, ROUNDING),
          new Rule(Check.NUMBERS, IdKind.INVOICE, GAPS),
          new Rule(Check.NUMBERS, IdKind.MERCHANT, LAST),
          new Rule(Check.NUMBERS, IdKind.SUBSCRIPTION, BOUNDARIES),
          new Rule(Check.NUMBERS, IdKind.LINE_ITEM, LINE_PERIODS));

  Future<Void> check(Inspection inspection) {
    return Rule.count(inspection, Check.TOTALS, COUNT)
        .compose(counted -> Rule.count(inspection, Check.NUMBERS, COUNT))
        .compose(counted -> Rule.checkAll(inspection, RULES));
  }
}

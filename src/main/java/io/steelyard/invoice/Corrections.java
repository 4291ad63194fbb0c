package io.steelyard.invoice;

import io.steelyard.credit.Reversals;
import io.steelyard.db.Ids;
import io.steelyard.domain.Id;
import io.steelyard.domain.InvoiceBasis.Rebilled;
import io.steelyard.domain.InvoiceLine;
import io.steelyard.domain.LineKind;
import io.steelyard.domain.PeriodKey;
import io.steelyard.invoice.RebillStore.Settled;
import io.vertx.core.Future;
import io.vertx.sqlclient.SqlConnection;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/** What invoices settle of the periods they correct: rebills, late events and released units. */
public final class Corrections {
  private final RebillStore rebills = new RebillStore();
  private final Reversals reversals = new Reversals();

  /**
   * What an invoice was to correct.
   *
   * @param boundaryIndex of the invoice, or that it would have if it had come to anything
   * @param invoiceId null when it has come to nothing
   * @param awaited the period whose late events the invoice was pending for; null for none
   * @param rebilled the periods to be corrected
   * @param lines the invoice's
   * @param last whether the invoice is final, or has come to nothing
   * @param at by the merchant's clock
   */
  public record Correction(
      Id subscriptionId,
      int boundaryIndex,
      Id invoiceId,
      Integer awaited,
      List<Rebilled> rebilled,
      List<InvoiceLine> lines,
      boolean last,
      Instant at) {
    public Correction {
      rebilled = List.copyOf(rebilled);
      lines = List.copyOf(lines);
    }

    private List<Integer> periods() {
      return rebilled.stream().map(each -> each.period().full().index()).toList();
    }

    private boolean names(int period) {
      return lines.stream()
          .anyMatch(line -> line.kind() == LineKind.ADJUSTMENT && line.periodIndex() == period);
    }

    private Settled settled(int period, boolean hasLines) {
      return new Settled(subscriptionId, period, boundaryIndex, hasLines, last);
    }

    private UUID cause() {
      return invoiceId == null
          ? Ids.operation("redraw:" + subscriptionId + ":" + boundaryIndex)
          : invoiceId.uuid();
    }
  }

  /**
   * Notes which late events the lines include. What is final leaves nothing to correct, and draws
   * the units again that a void invoice gave back.
   */
  public Future<Void> settle(SqlConnection tx, UUID merchantId, List<Correction> corrections) {
    List<Settled> settled = new ArrayList<>();
    for (Correction each : corrections) {
      if (each.awaited() != null) {
        settled.add(each.settled(each.awaited(), true));
      }
      for (Integer period : each.periods()) {
        if (!period.equals(each.awaited())) {
          settled.add(each.settled(period, each.names(period)));
        }
      }
    }
    return rebills
        .settle(tx, merchantId, settled)
        .compose(done -> redraw(tx, merchantId, corrections));
  }

  private Future<Void> redraw(SqlConnection tx, UUID merchantId, List<Correction> corrections) {
    Future<Void> redrawn = Future.succeededFuture();
    for (Correction each : corrections) {
      List<PeriodKey> periods =
          each.periods().stream()
              .map(index -> new PeriodKey(each.subscriptionId(), index))
              .toList();
      if (each.last() && !periods.isEmpty()) {
        redrawn =
            redrawn.compose(
                done -> reversals.redraw(tx, merchantId, periods, each.cause(), each.at()));
      }
    }
    return redrawn;
  }
}

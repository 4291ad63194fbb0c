package io.steelyard.subscription;

import io.steelyard.credit.CreditStore;
import io.steelyard.credit.CreditStore.NewBlock;
import io.steelyard.credit.RolloverStore;
import io.steelyard.db.Transactions;
import io.steelyard.domain.Actor;
import io.steelyard.domain.Id;
import io.steelyard.domain.InvoiceStatus;
import io.steelyard.domain.SubscriptionStatus;
import io.steelyard.invoice.Corrections;
import io.steelyard.invoice.Corrections.Correction;
import io.steelyard.invoice.DraftStore;
import io.steelyard.invoice.DraftStore.NewInvoice;
import io.steelyard.invoice.Finalised;
import io.steelyard.invoice.Finalised.FinalInvoice;
import io.steelyard.invoice.RebillStore;
import io.steelyard.invoice.TransitionStore;
import io.steelyard.invoice.TransitionStore.Cause;
import io.steelyard.invoice.TransitionStore.InvoiceChange;
import io.steelyard.subscription.AccessStore.Changed;
import io.steelyard.subscription.AccessStore.OpenAccess;
import io.steelyard.subscription.Boundaries.Outcome;
import io.steelyard.subscription.Boundaries.Units;
import io.steelyard.subscription.BoundaryDrafting.Moment;
import io.steelyard.subscription.BoundaryDrafting.Passed;
import io.steelyard.subscription.PeriodStore.EventsBefore;
import io.vertx.core.Future;
import io.vertx.sqlclient.SqlConnection;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.UUID;
import java.util.function.Predicate;

/** Writes what passed boundaries bring into the database, but for the subscriptions themselves. */
final class BoundaryWriting {
  private final PeriodStore periods = new PeriodStore();
  private final AccessStore access = new AccessStore();
  private final DraftStore invoices = new DraftStore();
  private final CreditStore credits = new CreditStore();
  private final RolloverStore rollovers = new RolloverStore();
  private final Finalised finalised = new Finalised();
  private final Corrections corrections = new Corrections();
  private final TransitionStore transitions = new TransitionStore();
  private final RebillStore rebills = new RebillStore();

  /** Writes all of it. */
  Future<Outcome> write(SqlConnection tx, Moment moment, List<Passed> passed, EventsBefore events) {
    UUID merchantId = moment.call().merchantId();
    Future<Integer> behind =
        periods.insert(
            tx,
            merchantId,
            passed.stream().map(Passed::period).filter(Objects::nonNull).toList(),
            events);
    return Transactions.pipelined(
            () -> behind,
            () -> writeAccess(tx, merchantId, passed),
            () -> rebills.ended(tx, merchantId, ended(passed)),
            () ->
                writeUnits(tx, merchantId, units(passed))
                    // of the units, too, that the boundary itself brings
                    .compose(done -> settle(tx, merchantId, passed)),
            // behind the others, as a merchant's other transactions wait for its numbers; what
            // units roll over and what is settled need not come before
            () -> writeInvoices(tx, moment, passed))
        .map(
            done ->
                new Outcome(
                    passed.stream().map(Passed::after).toList(),
                    invoices(passed),
                    behind.result()));
  }

  private Future<Void> writeAccess(SqlConnection tx, UUID merchantId, List<Passed> passed) {
    List<OpenAccess> open = passed.stream().flatMap(each -> each.access().stream()).toList();
    List<Changed> reopened =
        passed.stream()
            .filter(each -> each.period() != null && each.boundary().index() > 0)
            .map(BoundaryWriting::changed)
            .toList();
    List<Changed> ended =
        passed.stream()
            .filter(each -> each.period() == null)
            .map(BoundaryWriting::changed)
            .toList();
    return Transactions.pipelined(
        () -> access.open(tx, merchantId, open),
        () -> access.invalidateOthers(tx, merchantId, reopened, open),
        () -> access.close(tx, merchantId, ended));
  }

  private static List<Id> ended(List<Passed> passed) {
    return passed.stream()
        .map(Passed::after)
        .filter(each -> each.view().status() == SubscriptionStatus.ENDED)
        .map(Subscription::id)
        .toList();
  }

  private static Changed changed(Passed passed) {
    return new Changed(passed.after().id(), passed.at());
  }

  /** Writes no more than invoices and what they settle. */
  Future<Outcome> writeCorrections(SqlConnection tx, Moment moment, List<Passed> corrected) {
    return writeInvoices(tx, moment, corrected)
        .compose(done -> settle(tx, moment.call().merchantId(), corrected))
        .map(new Outcome(List.of(), invoices(corrected), 0));
  }

  private Future<Void> writeInvoices(SqlConnection tx, Moment moment, List<Passed> passed) {
    UUID merchantId = moment.call().merchantId();
    Predicate<Passed> isResumed = each -> each.boundary().pausedInvoice() != null;
    List<Passed> made = passed.stream().filter(each -> each.invoice() != null).toList();
    List<NewInvoice> resumed = made.stream().filter(isResumed).map(Passed::invoice).toList();
    return Transactions.pipelined(
        () ->
            invoices.insert(
                tx,
                merchantId,
                made.stream().filter(isResumed.negate()).map(Passed::invoice).toList()),
        () -> invoices.resume(tx, merchantId, resumed),
        () -> recordResumed(tx, moment, resumed),
        () ->
            finalised.finalised(
                tx,
                merchantId,
                made.stream()
                    .map(Passed::invoice)
                    .filter(each -> each.finaliseAt() == null)
                    .map(FinalInvoice::of)
                    .toList(),
                moment.systemNow()));
  }

  /** What is final at once has been pending in between, as the record tells. */
  private Future<Void> recordResumed(SqlConnection tx, Moment moment, List<NewInvoice> resumed) {
    List<InvoiceChange> changes =
        resumed.stream()
            .map(
                each ->
                    new InvoiceChange(
                        each.id().uuid(), InvoiceStatus.PAUSED, InvoiceStatus.PENDING, each.at()))
            .toList();
    Cause cause = new Cause(Actor.BILLING, "made at last", null, moment.systemNow());
    return transitions.recordInvoices(tx, moment.call().merchantId(), changes, cause);
  }

  private Future<Void> settle(SqlConnection tx, UUID merchantId, List<Passed> passed) {
    return corrections.settle(
        tx, merchantId, passed.stream().map(BoundaryWriting::correction).toList());
  }

  private static Correction correction(Passed passed) {
    NewInvoice invoice = passed.invoice();
    return new Correction(
        passed.after().id(),
        passed.boundary().index(),
        invoice == null ? null : invoice.id(),
        null,
        passed.boundary().rebilled(),
        invoice == null ? List.of() : invoice.lines(),
        invoice == null || invoice.finaliseAt() == null,
        invoice == null || invoice.issueDate() == null ? passed.at() : invoice.issueDate());
  }

  private static List<NewInvoice> invoices(List<Passed> passed) {
    return passed.stream().map(Passed::invoice).filter(Objects::nonNull).toList();
  }

  private static List<Units> units(List<Passed> passed) {
    return passed.stream()
        .map(each -> new Units(each.at(), each.blocks(), each.boundary().index() == 0))
        .toList();
  }

  /** Allocates units, with what rolls over into them. */
  Future<Void> writeUnits(SqlConnection tx, UUID merchantId, List<Units> units) {
    Map<Instant, List<NewBlock>> successors =
        byDate(units.stream().filter(each -> !each.first()).toList());
    Future<Void> written = Future.succeededFuture();
    for (Map.Entry<Instant, List<NewBlock>> dated : byDate(units).entrySet()) {
      List<NewBlock> takeOver = successors.getOrDefault(dated.getKey(), List.of());
      written =
          written
              .compose(done -> credits.allocate(tx, merchantId, dated.getValue(), dated.getKey()))
              .compose(done -> rollovers.rollOver(tx, merchantId, takeOver, dated.getKey()));
    }
    return written;
  }

  /** In practice all of one instant, but when a set clock has jumped over several. */
  private static Map<Instant, List<NewBlock>> byDate(List<Units> units) {
    Map<Instant, List<NewBlock>> byDate = new TreeMap<>();
    for (Units each : units) {
      if (!each.blocks().isEmpty()) {
        byDate.computeIfAbsent(each.at(), at -> new ArrayList<>()).addAll(each.blocks());
      }
    }
    return byDate;
  }
}

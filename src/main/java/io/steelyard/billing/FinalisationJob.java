package io.steelyard.billing;

import io.steelyard.billing.BasisLoader.Loaded;
import io.steelyard.billing.BasisLoader.Wanted;
import io.steelyard.catalog.CatalogStore;
import io.steelyard.db.CustomerLocks;
import io.steelyard.domain.DeliveryAction;
import io.steelyard.domain.Id;
import io.steelyard.domain.InvoiceBasis;
import io.steelyard.domain.InvoiceDrafting;
import io.steelyard.domain.InvoiceLine;
import io.steelyard.domain.LineKind;
import io.steelyard.domain.PlanTerms;
import io.steelyard.invoice.Corrections;
import io.steelyard.invoice.Corrections.Correction;
import io.steelyard.invoice.Finalised;
import io.steelyard.invoice.Finalised.FinalInvoice;
import io.steelyard.invoice.PendingStore;
import io.steelyard.invoice.PendingStore.Final;
import io.steelyard.invoice.PendingStore.LineKey;
import io.steelyard.invoice.PendingStore.Pending;
import io.steelyard.invoice.PendingStore.Rewritten;
import io.steelyard.invoice.PendingStore.StoredLine;
import io.steelyard.merchant.MerchantClock;
import io.steelyard.subscription.PeriodStore;
import io.steelyard.subscription.PeriodStore.StoredPeriod;
import io.steelyard.subscription.Subscription;
import io.steelyard.subscription.SubscriptionStore;
import io.vertx.core.Future;
import io.vertx.sqlclient.SqlConnection;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * Makes pending invoices final whose grace for late usage is over: writes what the usage has come
 * to since the boundary, once everything accepted before has been counted.
 */
final class FinalisationJob implements DueJob {
  private final ClaimStore claims = new ClaimStore();
  private final PendingStore invoices = new PendingStore();
  private final SubscriptionStore subscriptions = new SubscriptionStore();
  private final PeriodStore periods = new PeriodStore();
  private final CatalogStore catalog = new CatalogStore();
  private final BasisLoader basis = new BasisLoader();
  private final Finalised finalised = new Finalised();
  private final Corrections corrections = new Corrections();
  private final MerchantClock clock;

  FinalisationJob(MerchantClock clock) {
    this.clock = clock;
  }

  private record Facts(
      List<Pending> pending,
      Map<Id, Subscription> subscriptions,
      Map<Id, PlanTerms> plans,
      Map<Id, Loaded> loaded,
      Map<UUID, List<StoredLine>> stored) {}

  /**
   * An invoice with the lines that it is to have for usage and corrections.
   *
   * @param advance of the stored lines, those that stay
   */
  private record Drafted(
      Pending invoice,
      Loaded loaded,
      List<InvoiceLine> lines,
      List<StoredLine> advance,
      List<StoredLine> others,
      Instant issued) {
    /** Whether the stored lines are no longer what usage has come to. */
    boolean isChanged() {
      Map<LineKey, StoredLine> before =
          others.stream().collect(Collectors.toMap(StoredLine::key, Function.identity()));
      return before.size() != lines.size()
          || lines.stream()
              .anyMatch(
                  line -> {
                    StoredLine old = before.get(LineKey.of(line));
                    return old == null
                        || old.quantity().compareTo(line.quantity()) != 0
                        || old.amount().compareTo(line.amount()) != 0;
                  });
    }

    BigDecimal total() {
      return advance.stream()
          .map(StoredLine::amount)
          .reduce(InvoiceDrafting.total(lines), BigDecimal::add);
    }

    Rewritten rewritten() {
      Map<LineKey, UUID> ids = new HashMap<>();
      others.forEach(line -> ids.put(line.key(), line.id()));
      return new Rewritten(invoice.id(), lines, ids, advance.size(), issued);
    }
  }

  @Override
  public boolean isOfInvoices() {
    return true;
  }

  @Override
  public Future<List<UUID>> claim(SqlConnection tx, Attempt attempt, Claim claim) {
    return attempt.countedBy() == null
        ? Future.succeededFuture(List.of())
        : claims.dueInvoices(tx, attempt.call().merchantId(), attempt.countedBy(), claim);
  }

  @Override
  public Future<Work> work(SqlConnection tx, Attempt attempt, List<UUID> claimed) {
    UUID merchantId = attempt.call().merchantId();
    return invoices
        .pending(tx, merchantId, claimed)
        .compose(
            all -> {
              List<Pending> pending = oneEach(all);
              return CustomerLocks.lock(
                      tx, pending.stream().map(each -> each.customerId().uuid()).toList())
                  .compose(locked -> facts(tx, attempt, pending));
            })
        .map(facts -> draft(facts, attempt))
        .compose(drafted -> write(tx, attempt, drafted).map(done -> finalised(drafted.size())));
  }

  /** Of each subscription the earliest: what it bills late, the next one must know of. */
  private static List<Pending> oneEach(List<Pending> pending) {
    Map<Id, Pending> earliest = new HashMap<>();
    pending.forEach(each -> earliest.putIfAbsent(each.subscriptionId(), each));
    return pending.stream()
        .filter(each -> earliest.get(each.subscriptionId()).equals(each))
        .toList();
  }

  private static Work finalised(int count) {
    return new Work(count, 0, 0, count, 0);
  }

  private Future<Facts> facts(SqlConnection tx, Attempt attempt, List<Pending> pending) {
    UUID merchantId = attempt.call().merchantId();
    Map<Id, Integer> closed = new HashMap<>();
    pending.forEach(each -> closed.put(each.subscriptionId(), each.boundaryIndex() - 1));
    return subscriptions
        .findAll(tx, merchantId, closed.keySet())
        .compose(
            found ->
                periods
                    .find(tx, merchantId, closed)
                    .compose(ended -> basis.load(tx, attempt.call(), wanted(pending, found, ended)))
                    .compose(
                        loaded ->
                            catalog
                                .planTerms(tx, merchantId, plans(found))
                                .compose(
                                    plans ->
                                        invoices
                                            .storedLines(tx, merchantId, ids(pending))
                                            .map(
                                                stored ->
                                                    new Facts(
                                                        pending, found, plans, loaded, stored)))));
  }

  private static List<Wanted> wanted(
      List<Pending> pending, Map<Id, Subscription> found, Map<Id, StoredPeriod> ended) {
    return pending.stream()
        .map(
            each ->
                new Wanted(
                    found.get(each.subscriptionId()), ended.get(each.subscriptionId()), each.id()))
        .toList();
  }

  private static List<UUID> plans(Map<Id, Subscription> found) {
    return found.values().stream().map(each -> each.view().planId().uuid()).distinct().toList();
  }

  private static List<UUID> ids(List<Pending> pending) {
    return pending.stream().map(each -> each.id().uuid()).toList();
  }

  private static List<Drafted> draft(Facts facts, Attempt attempt) {
    List<Drafted> drafted = new ArrayList<>();
    for (Pending each : facts.pending()) {
      Subscription subscription = facts.subscriptions().get(each.subscriptionId());
      Loaded loaded = facts.loaded().get(each.subscriptionId());
      InvoiceBasis invoiced =
          new InvoiceBasis(
              facts.plans().get(subscription.view().planId()),
              subscription.view().billingCadence(),
              subscription.chargesUsageInTrial(),
              null,
              subscription.invoices(loaded.closed().period()) ? loaded.closed() : null,
              loaded.rebilled());
      Map<Boolean, List<StoredLine>> stored =
          facts.stored().getOrDefault(each.id().uuid(), List.of()).stream()
              .collect(Collectors.partitioningBy(line -> line.key().kind() == LineKind.ADVANCE));
      drafted.add(
          new Drafted(
              each,
              loaded,
              InvoiceDrafting.lines(invoiced),
              stored.get(true),
              stored.get(false),
              attempt.clock().dated(each.finaliseAt(), subscription.view().createdAt())));
    }
    return drafted;
  }

  private Future<Void> write(SqlConnection tx, Attempt attempt, List<Drafted> drafted) {
    UUID merchantId = attempt.call().merchantId();
    List<Final> last = drafted.stream().map(each -> last(each, attempt)).toList();
    return invoices
        .rewrite(
            tx,
            merchantId,
            drafted.stream().filter(Drafted::isChanged).map(Drafted::rewritten).toList())
        .compose(done -> invoices.finalise(tx, merchantId, last))
        .compose(
            done -> finalised.finalised(tx, merchantId, finals(drafted, last), clock.systemNow()))
        .compose(
            done ->
                corrections.settle(
                    tx, merchantId, drafted.stream().map(FinalisationJob::correction).toList()));
  }

  private static List<FinalInvoice> finals(List<Drafted> drafted, List<Final> last) {
    List<FinalInvoice> finals = new ArrayList<>();
    for (int i = 0; i < last.size(); i++) {
      Pending invoice = drafted.get(i).invoice();
      finals.add(
          new FinalInvoice(
              invoice.id(),
              last.get(i).status(),
              DeliveryAction.isAutomatic(
                  invoice.autoSync(), invoice.autoSend(), invoice.autoCharge()),
              last.get(i).issueDate()));
    }
    return finals;
  }

  private static Final last(Drafted drafted, Attempt attempt) {
    Pending invoice = drafted.invoice();
    BigDecimal total = drafted.total();
    return new Final(
        invoice.id(),
        InvoiceDrafting.finalStatus(
            total, invoice.paymentGateway(), attempt.call().merchant().environment()),
        total,
        InvoiceDrafting.dueDate(
            drafted.issued(),
            invoice.netTerms(),
            invoice.autoCharge(),
            attempt.call().merchant().zone()),
        drafted.issued());
  }

  private static Correction correction(Drafted drafted) {
    Pending invoice = drafted.invoice();
    return new Correction(
        invoice.subscriptionId(),
        invoice.boundaryIndex(),
        invoice.id(),
        invoice.boundaryIndex() - 1,
        drafted.loaded().rebilled(),
        drafted.lines(),
        true,
        drafted.issued());
  }
}

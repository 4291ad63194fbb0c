package io.steelyard.usage;

import io.steelyard.domain.PriceTerms;
import io.steelyard.domain.UsageTotal;
import io.steelyard.usage.Fold.Reading;
import io.steelyard.usage.Matching.Hit;
import io.steelyard.usage.Wallets.PriceRef;
import io.steelyard.usage.Wallets.WalletRef;
import io.vertx.core.Future;
import io.vertx.sqlclient.SqlConnection;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Counts events in periods within the caller's transaction, which holds the locks of all customers
 * concerned: loads what the events touch, lets {@link Fold} decide, and writes what changed.
 */
final class Folding {
  private final PlanCache plans;
  private final CounterStore counters = new CounterStore();
  private final DrawStore draws = new DrawStore();
  private final LateUsageStore late = new LateUsageStore();

  Folding(PlanCache plans) {
    this.plans = plans;
  }

  /**
   * Counts each event in each of the periods that takes it; how many could not be, by reason.
   *
   * @param events each customer's in their order
   */
  Future<Map<String, Integer>> fold(
      SqlConnection transaction, List<StoredEvent> events, List<UsagePeriod> periods) {
    if (events.isEmpty() || periods.isEmpty()) {
      return Future.succeededFuture(Map.of());
    }
    return meters(transaction, periods)
        .map(meters -> Matching.ofOrdered(events, meters))
        .compose(matching -> count(transaction, matching).map(done -> matching.unratable()));
  }

  /** Forgets what these periods have counted, but not what they have drawn for it. */
  Future<Void> beginRecount(SqlConnection transaction, List<UsagePeriod> periods) {
    return periods.isEmpty()
        ? Future.succeededFuture()
        : counters.forgetUniques(transaction, periods);
  }

  /** Brings what these periods have drawn to what they have come to. */
  Future<Void> endRecount(SqlConnection transaction, List<UsagePeriod> periods) {
    return periods.isEmpty()
        ? Future.succeededFuture()
        : readings(transaction, periods).compose(readings -> redraw(transaction, readings));
  }

  private Future<Void> redraw(SqlConnection transaction, List<Reading> readings) {
    Set<Meter> meters = readings.stream().map(Reading::meter).collect(Collectors.toSet());
    return draws
        .load(transaction, prices(meters), wallets(meters), now(meters))
        .compose(
            wallets -> {
              wallets.recounted(readings);
              return draws.save(transaction, wallets);
            });
  }

  /** Shows what these periods have come to, also where that is nothing yet. */
  Future<Void> showAccess(SqlConnection transaction, List<UsagePeriod> periods) {
    return readings(transaction, periods)
        .compose(
            readings ->
                counters.saveAccess(
                    transaction,
                    readings.stream()
                        .filter(each -> each.isOfNow() || each.meter().period().recounting())
                        .toList()));
  }

  private Future<List<Reading>> readings(SqlConnection transaction, List<UsagePeriod> periods) {
    return meters(transaction, periods)
        .compose(
            meters ->
                counters
                    .counters(transaction, meters.stream().map(Meter::ref).toList())
                    .map(
                        totals ->
                            meters.stream()
                                .map(
                                    meter ->
                                        new Reading(
                                            meter,
                                            totals.getOrDefault(meter.ref(), UsageTotal.NONE)))
                                .toList()));
  }

  private Future<List<Meter>> meters(SqlConnection transaction, List<UsagePeriod> periods) {
    return plans
        .plansOf(transaction, periods)
        .map(
            terms ->
                periods.stream()
                    .flatMap(
                        period -> Meter.of(period, terms.get(PlanCache.Key.of(period))).stream())
                    .toList());
  }

  private Future<Void> count(SqlConnection transaction, Matching matching) {
    List<Hit> hits = matching.hits();
    if (hits.isEmpty()) {
      return Future.succeededFuture();
    }
    Set<Meter> meters = matching.meters();
    List<Meter.Ref> refs = meters.stream().map(Meter::ref).toList();
    return counters
        .addUniques(transaction, matching.uniques())
        .compose(
            unseen ->
                counters
                    .counters(transaction, refs)
                    .compose(
                        totals ->
                            draws
                                .load(transaction, prices(meters), wallets(meters), now(meters))
                                .compose(
                                    wallets ->
                                        save(
                                            transaction,
                                            new Fold(totals, unseen, wallets),
                                            hits,
                                            wallets))))
        .compose(saved -> late.save(transaction, matching.late()));
  }

  private Future<Void> save(SqlConnection transaction, Fold fold, List<Hit> hits, Wallets wallets) {
    List<Reading> readings = fold.fold(hits);
    return counters
        .save(transaction, readings)
        .compose(saved -> draws.save(transaction, wallets))
        .compose(
            saved ->
                counters.saveAccess(
                    transaction,
                    readings.stream()
                        .filter(Reading::isOfNow)
                        .filter(fold::changesAccess)
                        .toList()));
  }

  private static Set<PriceRef> prices(Set<Meter> meters) {
    Set<PriceRef> prices = new HashSet<>();
    for (Meter meter : meters) {
      for (PriceTerms price : meter.drawing()) {
        prices.add(new PriceRef(meter.period().ref(), price.id().uuid()));
      }
    }
    return prices;
  }

  private static Instant now(Set<Meter> meters) {
    return meters.stream()
        .map(meter -> meter.period().now())
        .max(Instant::compareTo)
        .orElse(Instant.MIN);
  }

  private static Set<WalletRef> wallets(Set<Meter> meters) {
    Set<WalletRef> wallets = new HashSet<>();
    for (Meter meter : meters) {
      for (PriceTerms price : meter.drawing()) {
        wallets.add(new WalletRef(meter.period().customerId(), price.customPricingUnitId().uuid()));
      }
    }
    return wallets;
  }
}

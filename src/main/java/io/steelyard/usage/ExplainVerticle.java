package io.steelyard.usage;

import io.steelyard.bus.Address;
import io.steelyard.bus.Call;
import io.steelyard.bus.Failure;
import io.steelyard.bus.FailureException;
import io.steelyard.bus.Reply;
import io.steelyard.catalog.CatalogStore;
import io.steelyard.config.Config;
import io.steelyard.db.Pools;
import io.steelyard.db.Sql;
import io.steelyard.db.StoreVerticle;
import io.steelyard.domain.BillingMode;
import io.steelyard.domain.IdKind;
import io.steelyard.domain.LineKind;
import io.steelyard.domain.PlanTerms;
import io.steelyard.merchant.MerchantClock;
import io.steelyard.usage.ExplainMessages.LineEventPage;
import io.steelyard.usage.ExplainMessages.ListLineEvents;
import io.steelyard.usage.ExplainStore.Line;
import io.steelyard.usage.ExplainStore.Scan;
import io.vertx.core.Future;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/** Answers which events a line of an invoice was computed from. */
public final class ExplainVerticle extends StoreVerticle<ExplainMessages<?>> {
  private final ExplainStore store = new ExplainStore();
  private final CatalogStore catalog = new CatalogStore();
  private final RetentionStore retention = new RetentionStore();
  private final UsageStore periods;
  private final Config.Explain config;

  public ExplainVerticle(
      Settings settings, Pools pools, MerchantClock clock, Config.Explain config) {
    super(
        Address.EXPLAIN,
        new Settings(config.inFlightMax(), settings.metrics(), settings.failures()),
        pools);
    this.periods = new UsageStore(clock);
    this.config = config;
  }

  @Override
  protected Future<? extends Reply> handle(ExplainMessages<?> request, Call call) {
    return switch (request) {
      case ListLineEvents list -> list(list, call);
    };
  }

  private Future<LineEventPage> list(ListLineEvents list, Call call) {
    return line(list, call)
        .compose(
            line ->
                meter(line)
                    .compose(
                        meter ->
                            meter
                                .map(found -> scan(line, found, list, call))
                                .orElseGet(
                                    () ->
                                        Future.succeededFuture(
                                            LineScan.page(List.of(), 0, list.paging())))));
  }

  private Future<Line> line(ListLineEvents list, Call call) {
    UUID invoiceId = Sql.uuid(IdKind.INVOICE, list.invoiceId());
    UUID lineId = Sql.uuid(IdKind.LINE_ITEM, list.lineItemId());
    return store
        .line(pool, call.merchantId(), invoiceId, lineId)
        .compose(
            found -> {
              if (found.isEmpty()) {
                return FailureException.failed(Failure.notFound("invoice"));
              }
              return found
                  .get()
                  .line()
                  .map(Future::succeededFuture)
                  .orElseGet(() -> FailureException.failed(Failure.notFound("line_item")));
            });
  }

  /** What the line's quantity was counted on; empty for a line of a fixed price. */
  private Future<Optional<Meter>> meter(Line line) {
    if (line.kind() == LineKind.ADVANCE) {
      return Future.succeededFuture(Optional.empty());
    }
    return periods
        .period(pool, line.period())
        .compose(
            period ->
                catalog
                    .planTerms(pool, period.merchantId(), List.of(period.planId()))
                    .map(plans -> meter(line, period, plans.values().iterator().next())));
  }

  private static Optional<Meter> meter(Line line, UsagePeriod period, PlanTerms plan) {
    return Meter.of(period, plan).stream()
        .filter(
            meter ->
                meter.prices().stream()
                    .anyMatch(
                        price ->
                            price.id().uuid().equals(line.priceId())
                                && price.mode() == BillingMode.ARREARS))
        .findFirst();
  }

  private Future<LineEventPage> scan(Line line, Meter meter, ListLineEvents list, Call call) {
    Scan scan =
        new Scan(
            line,
            meter.period(),
            meter.rules().eventNames(),
            list.paging().ascending(),
            config.scanEventsMax());
    // Looked at again behind the scan, in the middle of which a month may have gone.
    return notDropped(meter.period())
        .compose(there -> new LineScan(store, pool, scan, meter, list.paging(), call).run())
        .compose(page -> notDropped(meter.period()).map(page));
  }

  private Future<Void> notDropped(UsagePeriod period) {
    return retention
        .dropped(pool)
        .compose(
            dropped ->
                dropped.hide(period)
                    ? FailureException.failed(
                        new Failure.Gone(
                            "events_dropped",
                            "Events of the line's period were dropped; its quantity stands."))
                    : Future.succeededFuture());
  }
}

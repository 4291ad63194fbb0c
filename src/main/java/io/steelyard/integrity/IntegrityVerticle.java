package io.steelyard.integrity;

import io.steelyard.bus.Address;
import io.steelyard.bus.Call;
import io.steelyard.bus.FailureException;
import io.steelyard.bus.Reply;
import io.steelyard.bus.ServiceVerticle;
import io.steelyard.config.Config;
import io.steelyard.db.Pools;
import io.steelyard.integrity.IntegrityMessages.Check;
import io.steelyard.integrity.IntegrityMessages.CheckIntegrity;
import io.steelyard.integrity.IntegrityMessages.IntegrityReport;
import io.steelyard.merchant.MerchantClock;
import io.steelyard.usage.Recount;
import io.vertx.core.Future;
import io.vertx.pgclient.PgConnection;
import io.vertx.pgclient.PgException;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.SqlConnection;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Checks a merchant when asked, and every now and then all of them by itself. */
public final class IntegrityVerticle extends ServiceVerticle<IntegrityMessages<?>> {
  private static final Logger LOG = LoggerFactory.getLogger(IntegrityVerticle.class);
  private static final int MERCHANTS_MAX = 100;
  private static final long ANSWER_MARGIN_MS = 2000;

  private final Pools pools;
  private final MerchantClock clock;
  private final Config.Integrity config;
  private final int eventBytesMax;
  private final Snapshot snapshot;
  private final IntegrityMetrics metrics;
  private final RoundStore rounds = new RoundStore();
  private final LedgerStore ledger = new LedgerStore();
  private final InvoiceStore invoices = new InvoiceStore();
  private final ReferenceStore references = new ReferenceStore();
  private final Tiling tiling = new Tiling();
  private final Set<SqlConnection> running = new HashSet<>();
  private Pool pool;
  private Future<?> round = Future.succeededFuture();
  private volatile boolean stopping;

  /**
   * @param eventBytesMax of one event's data
   * @param distributed whether a Citus cluster keeps the events
   */
  public IntegrityVerticle(
      Settings settings,
      Pools pools,
      MerchantClock clock,
      Config.Integrity config,
      int eventBytesMax,
      boolean distributed,
      IntegrityMetrics metrics) {
    super(Address.INTEGRITY, settings);
    this.pools = pools;
    this.clock = clock;
    this.config = config;
    this.eventBytesMax = eventBytesMax;
    this.snapshot = new Snapshot(distributed);
    this.metrics = metrics;
  }

  @Override
  protected Future<?> open() {
    pool = pools.integrity(vertx, config.timeoutMs());
    arm();
    return Future.succeededFuture();
  }

  /** An inspection ends at its next step: what it has found so far is of no use to anybody. */
  @Override
  public Future<?> stop() {
    stopping = true;
    running.forEach(connection -> PgConnection.cast(connection).cancelRequest());
    return super.stop();
  }

  @Override
  protected Future<?> close() {
    return round.otherwiseEmpty().eventually(pool::close);
  }

  @Override
  protected Future<? extends Reply> handle(IntegrityMessages<?> message, Call call) {
    return switch (message) {
      case CheckIntegrity check -> pool.withConnection(connection -> inspect(connection, call));
    };
  }

  private Future<IntegrityReport> inspect(SqlConnection connection, Call call) {
    running.add(connection);
    return snapshot
        .during(connection, () -> inspect(new Inspection(connection, call, () -> stopping)))
        .timeout(call.remainingMs() + ANSWER_MARGIN_MS, TimeUnit.MILLISECONDS)
        .onComplete(done -> running.remove(connection));
  }

  private Future<IntegrityReport> inspect(Inspection inspection) {
    Instant checkedAt = clock.systemNow();
    return ledger
        .check(inspection)
        .compose(done -> tiling.check(inspection))
        .compose(
            done ->
                recount(
                    inspection, new Recount(inspection.merchantId(), clock, eventBytesMax), null))
        .compose(done -> new UsageBilling(inspection).check())
        .compose(done -> invoices.check(inspection))
        .compose(done -> references.check(inspection))
        .map(done -> inspection.report(checkedAt));
  }

  private static Future<Void> recount(Inspection inspection, Recount recount, UUID after) {
    return inspection
        .goOn()
        .compose(go -> recount.next(inspection.snapshot(), after))
        .compose(
            page -> {
              inspection.checked(Check.USAGE, page.counters());
              page.differences()
                  .forEach(
                      each -> inspection.found(Check.USAGE, each.subscriptionId(), each.detail()));
              return page.lastCustomerId() == null
                  ? Future.succeededFuture()
                  : recount(inspection, recount, page.lastCustomerId());
            });
  }

  /** Armed anew after each round, so that rounds never overlap in one instance. */
  private void arm() {
    if (config.everyMs() > 0 && !stopping) {
      vertx.setTimer(
          config.everyMs(),
          timer -> {
            if (!stopping) {
              round = round().onComplete(done -> arm());
            }
          });
    }
  }

  private Future<Void> round() {
    return pool.withConnection(
            connection ->
                rounds
                    .tryLock(connection)
                    .compose(
                        mine ->
                            mine
                                ? inspectAll(connection).eventually(() -> rounds.unlock(connection))
                                : Future.succeededFuture()))
        .onFailure(
            error -> {
              if (!stopping) {
                LOG.warn("the integrity check is put off to its next turn", error);
              }
            });
  }

  private Future<Void> inspectAll(SqlConnection connection) {
    Map<Check, Long> faults = IntegrityMetrics.none();
    return rounds
        .strays(connection)
        .compose(
            strays -> {
              strays.forEach(stray -> LOG.error("integrity: {}, which is not there", stray));
              faults.merge(Check.REFERENCES, (long) strays.size(), Long::sum);
              return inspectNext(connection, new UUID(0, 0), faults);
            })
        .onSuccess(done -> metrics.roundEnded(faults, clock.systemNow()));
  }

  private Future<Void> inspectNext(SqlConnection connection, UUID after, Map<Check, Long> faults) {
    return rounds
        .merchants(connection, after, MERCHANTS_MAX)
        .compose(
            merchants ->
                inspectEach(connection, merchants, faults)
                    .compose(
                        done ->
                            merchants.size() < MERCHANTS_MAX
                                ? Future.succeededFuture()
                                : inspectNext(
                                    connection, merchants.getLast().id().uuid(), faults)));
  }

  private Future<Void> inspectEach(
      SqlConnection connection, List<Call.Merchant> merchants, Map<Check, Long> faults) {
    Future<Void> inspected = Future.succeededFuture();
    for (Call.Merchant merchant : merchants) {
      inspected = inspected.compose(before -> inspectInRound(connection, merchant, faults));
    }
    return inspected;
  }

  /** One that cannot be checked does not keep the others from it, as long as there is an answer. */
  private Future<Void> inspectInRound(
      SqlConnection connection, Call.Merchant merchant, Map<Check, Long> faults) {
    return inspect(connection, Call.within("integrity", merchant, config.timeoutMs()))
        .<Void>map(
            report -> {
              IntegrityMetrics.add(faults, report);
              log(report);
              return null;
            })
        .recover(
            error -> {
              boolean answered = error instanceof FailureException || error instanceof PgException;
              if (stopping || !answered) {
                return Future.failedFuture(error);
              }
              metrics.failed();
              LOG.error("the integrity of {} could not be checked", merchant.id(), error);
              return Future.succeededFuture();
            });
  }

  private static void log(IntegrityReport report) {
    report.checks().stream()
        .filter(result -> result.faults() > 0)
        .forEach(
            result ->
                LOG.error(
                    "integrity of {}: {} faults in {}",
                    report.merchantId(),
                    result.faults(),
                    result.name().wire()));
  }
}

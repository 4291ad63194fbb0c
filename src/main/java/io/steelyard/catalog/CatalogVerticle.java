package io.steelyard.catalog;

import io.steelyard.bus.Address;
import io.steelyard.bus.Call;
import io.steelyard.bus.Failure;
import io.steelyard.bus.FailureException;
import io.steelyard.bus.Reply;
import io.steelyard.catalog.CatalogMessages.ApplyCatalog;
import io.steelyard.catalog.CatalogMessages.CatalogApplied;
import io.steelyard.catalog.CatalogMessages.CatalogExported;
import io.steelyard.catalog.CatalogMessages.ExportCatalog;
import io.steelyard.db.Ids;
import io.steelyard.db.Pools;
import io.steelyard.db.StoreVerticle;
import io.steelyard.db.Transactions;
import io.steelyard.merchant.MerchantClock;
import io.vertx.core.Future;
import io.vertx.sqlclient.SqlConnection;
import java.time.Instant;
import java.util.List;

/** Applies and exports the catalogues of merchants. */
public final class CatalogVerticle extends StoreVerticle<CatalogMessages<?>> {
  private static final String ONE_SNAPSHOT =
      "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY";

  private final MerchantClock clock;
  private final StoredCatalogStore reading = new StoredCatalogStore();
  private final CatalogEditStore writing = new CatalogEditStore();

  public CatalogVerticle(Settings settings, Pools pools, MerchantClock clock) {
    super(Address.CATALOG, settings, pools);
    this.clock = clock;
  }

  @Override
  protected Future<? extends Reply> handle(CatalogMessages<?> message, Call call) {
    return switch (message) {
      case ApplyCatalog apply -> apply(apply.document(), call);
      case ExportCatalog export -> export(call);
    };
  }

  private Future<CatalogApplied> apply(CatalogDocument document, Call call) {
    List<Failure.Fault> faults = CatalogValidation.faults(document);
    if (!faults.isEmpty()) {
      return FailureException.failed(new Failure.Invalid(faults));
    }
    CatalogDocument complete = CatalogDefaults.complete(document);
    return Transactions.run(pool, tx -> apply(tx, complete, call))
        .onSuccess(
            applied -> {
              if (!applied.changes().isEmpty()) {
                vertx.eventBus().publish(Address.CATALOG_CHANGED, call.merchant().id().toString());
              }
            });
  }

  private Future<CatalogApplied> apply(SqlConnection tx, CatalogDocument document, Call call) {
    return writing
        .lock(tx, call.merchantId())
        .compose(locked -> reading.read(tx, call.merchantId()))
        .compose(
            // The system's time: versions of prices and rules follow each other by it, whatever the
            // merchant's own clock shows.
            stored -> write(tx, stored, document, call, clock.systemNow()));
  }

  private Future<CatalogApplied> write(
      SqlConnection tx, StoredCatalog stored, CatalogDocument document, Call call, Instant now) {
    CatalogEdits edits = CatalogDiff.between(stored, document, Ids::nextUuid);
    return writing
        .write(tx, call.merchantId(), edits, notBefore(stored.latestChange(), now))
        .map(done -> edits.applied());
  }

  /** Nodes' clocks differ a little; nothing must end before it began. */
  private static Instant notBefore(Instant earliest, Instant now) {
    return earliest == null || now.isAfter(earliest) ? now : earliest;
  }

  private Future<CatalogExported> export(Call call) {
    return Transactions.run(
        pool,
        tx ->
            tx.query(ONE_SNAPSHOT)
                .execute()
                .compose(set -> reading.read(tx, call.merchantId()))
                .map(stored -> new CatalogExported(stored.document())));
  }
}

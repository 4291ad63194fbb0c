package io.steelyard.credit;

import io.steelyard.bus.Address;
import io.steelyard.bus.Call;
import io.steelyard.bus.Failure;
import io.steelyard.bus.FailureException;
import io.steelyard.bus.Reply;
import io.steelyard.catalog.CatalogStore;
import io.steelyard.catalog.UnitTerms;
import io.steelyard.credit.CreditMessages.Allocate;
import io.steelyard.credit.CreditMessages.Allocated;
import io.steelyard.credit.CreditMessages.GetUnitUsage;
import io.steelyard.credit.CreditMessages.ListTransactions;
import io.steelyard.credit.CreditMessages.TransactionPage;
import io.steelyard.credit.CreditMessages.UnitUsageView;
import io.steelyard.credit.CreditStore.NewBlock;
import io.steelyard.credit.UnitUsageStore.Found;
import io.steelyard.credit.UnitUsageStore.UnitUsage;
import io.steelyard.credit.UnitUsageStore.Wanted;
import io.steelyard.db.GroupedReads;
import io.steelyard.db.Idempotency;
import io.steelyard.db.Ids;
import io.steelyard.db.Pools;
import io.steelyard.db.Sql;
import io.steelyard.db.StoreVerticle;
import io.steelyard.domain.Id;
import io.steelyard.domain.IdKind;
import io.steelyard.domain.TransactionType;
import io.steelyard.merchant.MerchantClock;
import io.vertx.core.Future;
import io.vertx.sqlclient.SqlClient;
import io.vertx.sqlclient.SqlConnection;
import io.vertx.sqlclient.Tuple;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/** Answers for balances of custom pricing units and their ledger. */
public final class CreditVerticle extends StoreVerticle<CreditMessages<?>> {
  private static final String CUSTOMER_BY_EXTERNAL_ID =
      "SELECT id FROM customer WHERE merchant_id = $1 AND external_id = $2";
  private static final String CUSTOMER_BY_ID =
      "SELECT id FROM customer WHERE merchant_id = $1 AND id = $2";

  private final MerchantClock clock;
  private final Idempotency idempotency;
  private final CatalogStore catalog = new CatalogStore();
  private final CreditStore store = new CreditStore();
  private final TransactionStore transactions = new TransactionStore();
  private final UnitUsageStore usages = new UnitUsageStore();
  private final GroupedReads<Wanted, Found> reads;

  public CreditVerticle(
      Settings settings, Pools pools, MerchantClock clock, Idempotency idempotency) {
    super(Address.CREDIT, settings, pools);
    this.clock = clock;
    this.idempotency = idempotency;
    this.reads = new GroupedReads<>(wanted -> usages.read(pool, wanted, clock.systemNow()));
  }

  @Override
  protected Future<? extends Reply> handle(CreditMessages<?> message, Call call) {
    return switch (message) {
      case ListTransactions list -> listTransactions(list, call);
      case GetUnitUsage get -> getUnitUsage(get, call);
      case Allocate allocate -> idempotency.once(pool, call, tx -> allocate(tx, allocate, call));
    };
  }

  private Future<TransactionPage> listTransactions(ListTransactions list, Call call) {
    UUID merchantId = call.merchantId();
    return customerByExternalId(pool, merchantId, list.externalCustomerId())
        .compose(
            customer ->
                transactions
                    .count(pool, merchantId, customer)
                    .compose(
                        count ->
                            transactions
                                .page(pool, merchantId, customer, list.paging())
                                .map(
                                    page ->
                                        new TransactionPage(
                                            page,
                                            count,
                                            list.paging().pages(count),
                                            list.paging().page()))));
  }

  private Future<UnitUsageView> getUnitUsage(GetUnitUsage get, Call call) {
    Wanted wanted =
        new Wanted(
            call.merchantId(),
            get.externalCustomerId(),
            Sql.uuid(IdKind.CUSTOM_PRICING_UNIT, get.customPricingUnitId()));
    return reads.read(wanted, call).compose(CreditVerticle::view);
  }

  private static Future<UnitUsageView> view(Found found) {
    if (!found.customer()) {
      return FailureException.failed(Failure.notFound("customer"));
    }
    UnitTerms unit = found.unit();
    if (unit == null) {
      return FailureException.failed(Failure.notFound("custom_pricing_unit"));
    }
    UnitUsage usage = found.usage();
    return Future.succeededFuture(
        new UnitUsageView(
            unit.id(),
            unit.displayName(),
            unit.displayNameSingular(),
            unit.shortName(),
            usage.allocated(),
            usage.used(),
            usage.remaining(),
            usage.nextExpiring()));
  }

  private Future<Allocated> allocate(SqlConnection tx, Allocate allocate, Call call) {
    UUID merchantId = call.merchantId();
    return customerById(tx, merchantId, allocate.customerId())
        .compose(
            customer ->
                unit(tx, merchantId, allocate.customPricingUnitId())
                    .compose(
                        unit ->
                            clock
                                .now(tx, call)
                                .compose(
                                    now ->
                                        store(
                                            tx, merchantId, allocate, customer, unit.id(), now))));
  }

  private Future<Allocated> store(
      SqlConnection tx, UUID merchantId, Allocate allocate, Id customer, Id unit, Instant now) {
    if (allocate.expiresAt() != null && !allocate.expiresAt().isAfter(now)) {
      return FailureException.failed(
          new Failure.Rejected(
              "expiry_in_the_past",
              "expiresAt must lie in the future.",
              List.of(Failure.Fault.at("/expiresAt", "expiry_in_the_past", "Must be later."))));
    }
    Id id = Ids.next(IdKind.ALLOCATION_BLOCK);
    NewBlock block =
        new NewBlock(
            id,
            customer,
            unit,
            null,
            null,
            null,
            allocate.amount(),
            now,
            allocate.expiresAt(),
            null,
            TransactionType.MANUAL_ALLOCATION,
            "manual:" + id);
    return store
        .allocate(tx, merchantId, List.of(block), now)
        .map(
            stored ->
                new Allocated(
                    id,
                    customer,
                    unit,
                    allocate.amount(),
                    allocate.amount(),
                    now,
                    allocate.expiresAt()));
  }

  private Future<UnitTerms> unit(SqlClient client, UUID merchantId, String id) {
    return catalog.unit(client, merchantId, id).compose(unit -> found(unit, "custom_pricing_unit"));
  }

  private static Future<Id> customerByExternalId(
      SqlClient client, UUID merchantId, String externalId) {
    return customer(client, CUSTOMER_BY_EXTERNAL_ID, Tuple.of(merchantId, externalId));
  }

  private static Future<Id> customerById(SqlClient client, UUID merchantId, String id) {
    return customer(client, CUSTOMER_BY_ID, Tuple.of(merchantId, Sql.uuid(IdKind.CUSTOMER, id)));
  }

  private static Future<Id> customer(SqlClient client, String sql, Tuple parameters) {
    return client
        .preparedQuery(sql)
        .execute(parameters)
        .compose(
            rows ->
                found(
                    rows.size() == 0
                        ? Optional.empty()
                        : Optional.of(Sql.id(rows.iterator().next(), "id", IdKind.CUSTOMER)),
                    "customer"));
  }

  private static <T> Future<T> found(Optional<T> row, String what) {
    return row.map(Future::succeededFuture)
        .orElseGet(() -> FailureException.failed(Failure.notFound(what)));
  }
}

package io.steelyard;

import io.steelyard.bus.Bus;
import io.steelyard.bus.Call;
import io.steelyard.bus.Failure;
import io.steelyard.bus.FailureException;
import io.steelyard.catalog.CatalogMessages.ApplyCatalog;
import io.steelyard.catalog.CatalogParser;
import io.steelyard.config.Config;
import io.steelyard.credit.CreditMessages.BlockRef;
import io.steelyard.credit.CreditMessages.ListTransactions;
import io.steelyard.credit.CreditMessages.TransactionView;
import io.steelyard.customer.CustomerMessages.CreateCustomer;
import io.steelyard.customer.CustomerMessages.CustomerInput;
import io.steelyard.customer.CustomerMessages.GetCustomerByExternalId;
import io.steelyard.db.Pools;
import io.steelyard.domain.Environment;
import io.steelyard.domain.Id;
import io.steelyard.domain.Paging;
import io.steelyard.domain.PaymentGateway;
import io.steelyard.gateway.GatewayMessages.ConnectGateway;
import io.steelyard.json.Json;
import io.steelyard.merchant.MerchantMessages.CreateMerchant;
import io.steelyard.merchant.MerchantMessages.FindMerchant;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.file.CopyOptions;
import io.vertx.core.file.FileSystem;
import io.vertx.core.file.OpenOptions;
import io.vertx.sqlclient.Pool;
import java.nio.file.Path;
import java.time.ZoneOffset;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A merchant to try things with: an empty database gets one, with the catalogue of {@code
 * conf/demo-catalog.yaml}, a sandbox gateway and a few customers. Its key is kept in a file of the
 * data directory, so that the next start can show it again. It is seeded once: seeding that was cut
 * short goes on, and what was seeded is its owner's to change.
 */
final class Demo {
  private static final String KEY_FILE = "demo-merchant.json";
  private static final String CATALOG = "conf/demo-catalog.yaml";
  private static final long STEP_MS = 30_000;
  private static final List<Map<String, String>> CUSTOMERS =
      List.of(
          Map.of("externalId", "acme", "name", "Acme Corporation", "email", "billing@acme.example"),
          Map.of("externalId", "globex", "name", "Globex", "email", "accounts@globex.example"),
          Map.of("externalId", "initech", "name", "Initech", "billingZipCode", "78701-2345"));

  private final Vertx vertx;
  private final Bus bus;
  private final Pools pools;
  private final Path keyFile;

  /** What a person needs to try the service; what the demo merchant has not got is null. */
  record Introduction(String apiKey, String customerId, String unitId, String invoiceId) {}

  private record Account(Call call, String apiKey, boolean seeded) {}

  Demo(Vertx vertx, Bus bus, Pools pools, Config config) {
    this.vertx = vertx;
    this.bus = bus;
    this.pools = pools;
    // Absolute: a relative path that is not there Vert.x looks for on the class path, and where the
    // working directory is on that, it copies the whole data directory into its cache. The secrets
    // would lie there, and reading the lock file releases the lock.
    this.keyFile = Path.of(config.database().dataDir()).toAbsolutePath().resolve(KEY_FILE);
  }

  /** The introduction, or empty where the database has merchants of its own. */
  Future<Optional<Introduction>> prepare() {
    return vertx
        .fileSystem()
        .exists(keyFile.toString())
        .compose(
            known ->
                known ? readAccount() : Future.<Optional<Account>>succeededFuture(Optional.empty()))
        .compose(read -> read.isPresent() ? Future.succeededFuture(read) : createAccount())
        .compose(
            account ->
                account.isEmpty()
                    ? Future.succeededFuture(Optional.empty())
                    : seedOnce(account.get())
                        .compose(done -> introduce(account.get()))
                        .map(Optional::of));
  }

  private Future<Optional<Account>> readAccount() {
    return vertx
        .fileSystem()
        .readFile(keyFile.toString())
        .compose(
            content -> {
              Map<String, Object> stored = Json.readMap(content.toString());
              Call call = Call.within("demo", null, STEP_MS);
              return bus.ask(new FindMerchant((String) stored.get("merchantId")), call)
                  .map(
                      found ->
                          Optional.of(
                              new Account(
                                  call.forMerchant(found.merchant()),
                                  (String) stored.get("apiKey"),
                                  Boolean.TRUE.equals(stored.get("seeded")))));
            })
        .recover(error -> without(error, Failure.NotFound.class, Optional.empty()));
  }

  /** Goes on without what may well be missing, e.g. as the database was replaced. */
  private static <T> Future<T> without(
      Throwable error, Class<? extends Failure> expected, T instead) {
    return error instanceof FailureException known && expected.isInstance(known.failure())
        ? Future.succeededFuture(instead)
        : Future.failedFuture(error);
  }

  private Future<Optional<Account>> createAccount() {
    return databaseIsEmpty()
        .compose(empty -> empty ? createMerchant() : Future.succeededFuture(Optional.empty()));
  }

  private Future<Boolean> databaseIsEmpty() {
    Pool pool = pools.api(vertx);
    return pool.query("SELECT NOT EXISTS (SELECT FROM merchant) AS empty")
        .execute()
        .map(rows -> rows.iterator().next().getBoolean("empty"))
        .eventually(pool::close);
  }

  private Future<Optional<Account>> createMerchant() {
    Call call = Call.within("demo", null, STEP_MS);
    return bus.ask(new CreateMerchant("Demo", Environment.TEST, ZoneOffset.UTC), call)
        .compose(
            created -> {
              Call.Merchant merchant =
                  new Call.Merchant(created.id(), created.environment(), created.timezone());
              String key = created.apiKey().key();
              Account account = new Account(call.forMerchant(merchant), key, false);
              return write(account).map(done -> Optional.of(account));
            });
  }

  /** Whole or not at all, for its owner only. */
  private Future<Void> write(Account account) {
    Map<String, Object> stored = new LinkedHashMap<>();
    stored.put("merchantId", account.call().merchant().id());
    stored.put("apiKey", account.apiKey());
    stored.put("seeded", account.seeded());
    FileSystem files = vertx.fileSystem();
    String unfinished = keyFile + ".unfinished";
    OpenOptions ownerOnly =
        new OpenOptions().setPerms("rw-------").setCreateNew(true).setDsync(true);
    return files
        .mkdirs(keyFile.getParent().toString())
        .compose(made -> files.exists(unfinished))
        .compose(left -> left ? files.delete(unfinished) : Future.succeededFuture())
        .compose(clean -> files.open(unfinished, ownerOnly))
        .compose(file -> file.write(Json.encode(stored)).eventually(file::close))
        .compose(
            written ->
                files.move(unfinished, keyFile.toString(), new CopyOptions().setAtomicMove(true)));
  }

  /** What its owner makes of it afterwards stays. */
  private Future<Void> seedOnce(Account account) {
    return account.seeded()
        ? Future.succeededFuture()
        : seed(account.call())
            .compose(done -> write(new Account(account.call(), account.apiKey(), true)));
  }

  private Future<Void> seed(Call call) {
    return vertx
        .fileSystem()
        .readFile(CATALOG)
        .compose(
            yaml ->
                bus.ask(
                    new ApplyCatalog(CatalogParser.document(CatalogParser.yaml(yaml.toString()))),
                    call))
        .compose(
            applied ->
                bus.ask(
                    new ConnectGateway(PaymentGateway.CARD_GATEWAY, "sandbox", null, null), call))
        .compose(connected -> createCustomers(call));
  }

  private Future<Void> createCustomers(Call call) {
    Future<Void> done = Future.succeededFuture();
    for (Map<String, String> customer : CUSTOMERS) {
      done =
          done.compose(
              before ->
                  bus.ask(new CreateCustomer(new CustomerInput(customer)), call)
                      .<Void>mapEmpty()
                      .recover(error -> without(error, Failure.Conflict.class, null)));
    }
    return done;
  }

  private Future<Introduction> introduce(Account account) {
    String first = CUSTOMERS.get(0).get("externalId");
    Paging oldest = new Paging(1, 1, true, "createdAt");
    Introduction bare = new Introduction(account.apiKey(), null, null, null);
    return bus.ask(new GetCustomerByExternalId(first), account.call())
        .compose(
            customer ->
                bus.ask(new ListTransactions(first, oldest), account.call())
                    .map(page -> introduction(account, customer.id(), page.results())))
        .recover(error -> without(error, Failure.NotFound.class, bare));
  }

  private static Introduction introduction(
      Account account, Id customerId, List<TransactionView> oldest) {
    Optional<BlockRef> block = oldest.stream().findFirst().map(TransactionView::allocationBlock);
    return new Introduction(
        account.apiKey(),
        customerId.toString(),
        block.map(each -> each.customPricingUnitId().toString()).orElse(null),
        block.map(BlockRef::invoice).map(invoice -> invoice.id().toString()).orElse(null));
  }
}

package io.steelyard;

import io.steelyard.bus.Bus;
import io.steelyard.bus.Call;
import io.steelyard.bus.Failure;
import io.steelyard.bus.FailureException;
import io.steelyard.catalog.CatalogMessages.ApplyCatalog;
import io.steelyard.catalog.CatalogParser;
import io.steelyard.config.Config;
import io.steelyard.credit.CreditMessages.ListTransactions;
import io.steelyard.customer.CustomerMessages.CreateCustomer;
import io.steelyard.customer.CustomerMessages.CustomerInput;
import io.steelyard.customer.CustomerMessages.GetCustomerByExternalId;
import io.steelyard.db.Pools;
import io.steelyard.domain.Environment;
import io.steelyard.domain.Paging;
import io.steelyard.domain.PaymentGateway;
import io.steelyard.gateway.GatewayMessages.ConnectGateway;
import io.steelyard.json.Json;
import io.steelyard.merchant.MerchantMessages.CreateMerchant;
import io.steelyard.merchant.MerchantMessages.FindMerchant;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.file.CopyOptions;
import io.vertx.core.file.OpenOptions;
import io.vertx.sqlclient.Pool;
import java.nio.file.Path;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * A merchant to try things with: an empty database gets one, with the catalogue of {@code
 * conf/demo-catalog.yaml}, a sandbox gateway and a few customers. Its key is kept in a file of the
 * data directory, so that the next start can show it again; seeding that was cut short goes on.
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

  /** What a person needs to try the service. */
  record Introduction(String apiKey, String customerId, String unitId, String invoiceId) {}

  private record Account(Call call, String apiKey) {}

  Demo(Vertx vertx, Bus bus, Pools pools, Config config) {
    this.vertx = vertx;
    this.bus = bus;
    this.pools = pools;
    this.keyFile = Path.of(config.database().dataDir()).resolve(KEY_FILE);
  }

  /** The introduction, or empty where the database has merchants of its own. */
  Future<Optional<Introduction>> prepare() {
    return vertx
        .fileSystem()
        .exists(keyFile.toString())
        .compose(known -> known ? readAccount() : createAccount())
        .compose(
            account ->
                account.isEmpty()
                    ? Future.succeededFuture(Optional.empty())
                    : seed(account.get()).map(Optional::of));
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
                                  (String) stored.get("apiKey"))));
            })
        .recover(Demo::absentMerchant);
  }

  /** The file may be older than the database, which was replaced. */
  private static Future<Optional<Account>> absentMerchant(Throwable error) {
    return error instanceof FailureException known && known.failure() instanceof Failure.NotFound
        ? Future.succeededFuture(Optional.empty())
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
              return write(Json.encode(Map.of("merchantId", created.id(), "apiKey", key)))
                  .map(done -> Optional.of(new Account(call.forMerchant(merchant), key)));
            });
  }

  /** Whole or not at all: half a file would stop every later start. */
  private Future<Void> write(Buffer content) {
    String unfinished = keyFile + ".unfinished";
    CopyOptions replacing = new CopyOptions().setReplaceExisting(true).setAtomicMove(true);
    OpenOptions ownerOnly = new OpenOptions().setPerms("rw-------").setDsync(true);
    return vertx
        .fileSystem()
        .mkdirs(keyFile.toAbsolutePath().getParent().toString())
        .compose(made -> vertx.fileSystem().open(unfinished, ownerOnly))
        .compose(file -> file.write(content).eventually(file::close))
        .compose(done -> vertx.fileSystem().move(unfinished, keyFile.toString(), replacing));
  }

  private Future<Introduction> seed(Account account) {
    Call call = account.call();
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
                        new ConnectGateway(PaymentGateway.CARD_GATEWAY, "sandbox", null, null),
                        call)
                    .compose(connected -> createCustomers(call))
                    .compose(
                        done ->
                            introduce(
                                account, applied.customPricingUnits().get(0).id().toString())));
  }

  private Future<Void> createCustomers(Call call) {
    Future<Void> done = Future.succeededFuture();
    for (Map<String, String> customer : CUSTOMERS) {
      done =
          done.compose(
              before ->
                  bus.ask(new CreateCustomer(new CustomerInput(customer)), call)
                      .<Void>mapEmpty()
                      .recover(Demo::alreadyThere));
    }
    return done;
  }

  private static Future<Void> alreadyThere(Throwable error) {
    return error instanceof FailureException known && known.failure() instanceof Failure.Conflict
        ? Future.succeededFuture()
        : Future.failedFuture(error);
  }

  private Future<Introduction> introduce(Account account, String unitId) {
    String first = CUSTOMERS.get(0).get("externalId");
    Paging oldest = new Paging(1, 1, true, "createdAt");
    return bus.ask(new GetCustomerByExternalId(first), account.call())
        .compose(
            customer ->
                bus.ask(new ListTransactions(first, oldest), account.call())
                    .map(
                        page ->
                            new Introduction(
                                account.apiKey(),
                                customer.id().toString(),
                                unitId,
                                page.results()
                                    .get(0)
                                    .allocationBlock()
                                    .invoice()
                                    .id()
                                    .toString())));
  }
}

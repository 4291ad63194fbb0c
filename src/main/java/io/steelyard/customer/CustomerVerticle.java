package io.steelyard.customer;

import io.steelyard.bus.Address;
import io.steelyard.bus.Call;
import io.steelyard.bus.Failure;
import io.steelyard.bus.FailureException;
import io.steelyard.bus.Reply;
import io.steelyard.catalog.CatalogStore;
import io.steelyard.customer.CreationBuffer.Wish;
import io.steelyard.customer.CustomerMessages.CreateCustomer;
import io.steelyard.customer.CustomerMessages.CreatedCustomer;
import io.steelyard.customer.CustomerMessages.CustomerInput;
import io.steelyard.customer.CustomerMessages.CustomerPage;
import io.steelyard.customer.CustomerMessages.CustomerView;
import io.steelyard.customer.CustomerMessages.Customers;
import io.steelyard.customer.CustomerMessages.GetCustomer;
import io.steelyard.customer.CustomerMessages.GetCustomerByExternalId;
import io.steelyard.customer.CustomerMessages.GrantPrivatePlan;
import io.steelyard.customer.CustomerMessages.LinkCardGateway;
import io.steelyard.customer.CustomerMessages.ListCustomers;
import io.steelyard.customer.CustomerMessages.PrivatePlanGranted;
import io.steelyard.customer.CustomerMessages.UpsertCustomers;
import io.steelyard.customer.CustomerReadStore.Wanted;
import io.steelyard.db.GroupedReads;
import io.steelyard.db.Idempotency;
import io.steelyard.db.Idempotency.Outcome;
import io.steelyard.db.Pools;
import io.steelyard.db.Sql;
import io.steelyard.db.SqlFailures;
import io.steelyard.db.StoreVerticle;
import io.steelyard.domain.IdKind;
import io.steelyard.merchant.MerchantClock;
import io.steelyard.subscription.Boundaries;
import io.vertx.core.Future;
import io.vertx.sqlclient.SqlClient;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Supplier;

/** Answers for customers. */
public final class CustomerVerticle extends StoreVerticle<CustomerMessages<?>> {
  private final MerchantClock clock;
  private final CustomerStore store = new CustomerStore();
  private final CustomerReadStore readStore = new CustomerReadStore();
  private final CatalogStore catalog = new CatalogStore();
  private final CustomerCreation creation;
  private final CreationBuffer buffer;
  private final Idempotency idempotency;
  private final GroupedReads<Wanted, Optional<CustomerView>> reads =
      new GroupedReads<>(wanted -> readStore.findGroup(pool, wanted));

  private CustomerVerticle(
      Settings settings,
      Pools pools,
      MerchantClock clock,
      CustomerCreation creation,
      CreationBuffer buffer,
      Idempotency idempotency) {
    super(Address.CUSTOMER, settings, pools);
    this.clock = clock;
    this.creation = creation;
    this.buffer = buffer;
    this.idempotency = idempotency;
  }

  /** Makes the instances of one process. */
  public static Supplier<CustomerVerticle> instances(
      Settings settings,
      Pools pools,
      MerchantClock clock,
      Boundaries boundaries,
      Idempotency idempotency) {
    CustomerCreation creation = new CustomerCreation(clock, boundaries);
    CreationBuffer buffer = new CreationBuffer(settings.inFlightMax(), settings.metrics());
    return () -> new CustomerVerticle(settings, pools, clock, creation, buffer, idempotency);
  }

  @Override
  protected Future<? extends Reply> handle(CustomerMessages<?> message, Call call) {
    return switch (message) {
      case CreateCustomer create ->
          buffer.add(vertx.getOrCreateContext(), this::createAll, call, create.input());
      case UpsertCustomers upsert -> upsert(upsert, call);
      case GetCustomer get -> found(reads.read(wanted(get, call), call));
      case GetCustomerByExternalId get ->
          found(store.findByExternalId(pool, call.merchantId(), get.externalId()));
      case ListCustomers list -> list(list, call);
      case GrantPrivatePlan grant -> grant(grant, call);
      case LinkCardGateway link -> link(link, call);
    };
  }

  private static Wanted wanted(GetCustomer get, Call call) {
    return new Wanted(call.merchantId(), Sql.uuid(IdKind.CUSTOMER, get.id()));
  }

  private Future<List<Outcome>> createAll(List<Wish> wishes) {
    return idempotency.together(
        pool,
        wishes.stream().map(Wish::call).toList(),
        (tx, members) ->
            creation
                .create(
                    tx,
                    wishes.get(members.getFirst()).call(),
                    members.stream().map(i -> wishes.get(i).input()).toList())
                .map(created -> created.stream().map(CustomerVerticle::outcome).toList()));
  }

  private static Outcome outcome(Optional<CreatedCustomer> created) {
    return created.map(Outcome::of).orElseGet(() -> Outcome.refused(SqlFailures.EXTERNAL_ID_TAKEN));
  }

  private Future<? extends Reply> upsert(UpsertCustomers upsert, Call call) {
    List<Failure.Fault> twice = repeated(upsert.inputs());
    if (!twice.isEmpty()) {
      return FailureException.failed(new Failure.Invalid(twice));
    }
    return idempotency.once(
        pool,
        call,
        tx ->
            clock
                .now(tx, call)
                .compose(now -> store.upsert(tx, call.merchantId(), upsert.inputs(), now))
                .map(Customers::new));
  }

  private static List<Failure.Fault> repeated(List<CustomerInput> inputs) {
    List<Failure.Fault> faults = new ArrayList<>();
    Map<String, Integer> first = new HashMap<>();
    for (int i = 0; i < inputs.size(); i++) {
      Integer earlier = first.putIfAbsent(inputs.get(i).externalId(), i);
      if (earlier != null) {
        faults.add(
            Failure.Fault.at(
                "/" + i + "/externalId",
                "duplicate",
                "Must differ from that of element " + earlier + "."));
      }
    }
    return faults;
  }

  private Future<CustomerPage> list(ListCustomers list, Call call) {
    UUID merchantId = call.merchantId();
    return store
        .count(pool, merchantId, list.filters())
        .compose(
            count ->
                store
                    .page(pool, merchantId, list.filters(), list.paging())
                    .map(
                        page ->
                            new CustomerPage(
                                page, count, list.paging().pages(count), list.paging().page())));
  }

  private Future<PrivatePlanGranted> grant(GrantPrivatePlan grant, Call call) {
    UUID merchantId = call.merchantId();
    return found(store.find(pool, merchantId, grant.customerId()))
        .compose(
            customer ->
                catalog
                    .planId(pool, merchantId, grant.planId())
                    .compose(plan -> present(plan, "plan"))
                    .compose(
                        plan ->
                            clock
                                .now(pool, call)
                                .compose(
                                    now ->
                                        store.grantPrivatePlan(
                                            pool, merchantId, customer.id(), plan, now))
                                .map(done -> new PrivatePlanGranted(customer.id(), plan))));
  }

  private Future<CustomerView> link(LinkCardGateway link, Call call) {
    UUID merchantId = call.merchantId();
    return clock
        .now(pool, call)
        .compose(
            now ->
                store.linkCardGateway(
                    pool, merchantId, link.customerId(), link.cardGatewayId(), now))
        .compose(done -> found(find(pool, merchantId, link)));
  }

  private Future<Optional<CustomerView>> find(
      SqlClient client, UUID merchantId, LinkCardGateway link) {
    return store.find(client, merchantId, link.customerId().toString());
  }

  private static Future<CustomerView> found(Future<Optional<CustomerView>> row) {
    return row.compose(customer -> present(customer, "customer"));
  }

  private static <T> Future<T> present(Optional<T> row, String what) {
    return row.map(Future::succeededFuture)
        .orElseGet(() -> FailureException.failed(Failure.notFound(what)));
  }
}

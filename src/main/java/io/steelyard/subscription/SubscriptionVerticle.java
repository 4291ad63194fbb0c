package io.steelyard.subscription;

import io.steelyard.bus.Address;
import io.steelyard.bus.Call;
import io.steelyard.bus.Failure;
import io.steelyard.bus.FailureException;
import io.steelyard.bus.Reply;
import io.steelyard.catalog.CatalogStore;
import io.steelyard.catalog.Detail;
import io.steelyard.db.CustomerLocks;
import io.steelyard.db.Idempotency;
import io.steelyard.db.Pools;
import io.steelyard.db.Sql;
import io.steelyard.db.StoreVerticle;
import io.steelyard.db.Transactions;
import io.steelyard.domain.Actor;
import io.steelyard.domain.Id;
import io.steelyard.domain.IdKind;
import io.steelyard.domain.InvoiceStatus;
import io.steelyard.domain.SubscriptionStatus;
import io.steelyard.domain.SubscriptionTransitions;
import io.steelyard.domain.WireName;
import io.steelyard.invoice.DraftStore;
import io.steelyard.invoice.TransitionStore;
import io.steelyard.invoice.TransitionStore.Cause;
import io.steelyard.invoice.TransitionStore.SubscriptionChange;
import io.steelyard.merchant.MerchantClock;
import io.steelyard.subscription.PeriodStore.EventsBefore;
import io.steelyard.subscription.SubscriptionMessages.CancelSubscription;
import io.steelyard.subscription.SubscriptionMessages.CreateSubscriptions;
import io.steelyard.subscription.SubscriptionMessages.DeleteSubscription;
import io.steelyard.subscription.SubscriptionMessages.GetExpandedSubscription;
import io.steelyard.subscription.SubscriptionMessages.GetSubscription;
import io.steelyard.subscription.SubscriptionMessages.ListSubscriptions;
import io.steelyard.subscription.SubscriptionMessages.RenewSubscription;
import io.steelyard.subscription.SubscriptionMessages.SubscriptionCancelled;
import io.steelyard.subscription.SubscriptionMessages.SubscriptionDeleted;
import io.steelyard.subscription.SubscriptionMessages.SubscriptionPage;
import io.steelyard.subscription.SubscriptionMessages.SubscriptionView;
import io.steelyard.subscription.SubscriptionStore.Filter;
import io.vertx.core.Future;
import io.vertx.sqlclient.SqlClient;
import io.vertx.sqlclient.SqlConnection;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.stream.Collectors;

/** Answers for subscriptions: creation in bulk, reading, and the changes a caller may ask for. */
public final class SubscriptionVerticle extends StoreVerticle<SubscriptionMessages<?>> {
  private final MerchantClock clock;
  private final SubscriptionStore store = new SubscriptionStore();
  private final CatalogStore catalog = new CatalogStore();
  private final DraftStore drafts = new DraftStore();
  private final TransitionStore transitions = new TransitionStore();
  private final BulkCreation creation;
  private final EndDates ends;
  private final Boundaries boundaries;
  private final Idempotency idempotency;

  public SubscriptionVerticle(
      Settings settings,
      Pools pools,
      MerchantClock clock,
      Boundaries boundaries,
      Idempotency idempotency) {
    super(Address.SUBSCRIPTION, settings, pools);
    this.clock = clock;
    this.boundaries = boundaries;
    this.idempotency = idempotency;
    this.creation = new BulkCreation(clock, boundaries);
    this.ends = new EndDates(catalog);
  }

  @Override
  protected Future<? extends Reply> handle(SubscriptionMessages<?> message, Call call) {
    return switch (message) {
      case CreateSubscriptions create ->
          idempotency.once(pool, call, tx -> creation.create(tx, call, create.subscriptions()));
      case GetSubscription get -> find(pool, call, get.id()).map(Subscription::view);
      case GetExpandedSubscription get -> getExpanded(get, call);
      case ListSubscriptions list -> list(list, call);
      case CancelSubscription cancel -> Transactions.run(pool, tx -> cancel(tx, cancel, call));
      case RenewSubscription renew -> Transactions.run(pool, tx -> renew(tx, renew, call));
      case DeleteSubscription delete -> Transactions.run(pool, tx -> delete(tx, delete, call));
    };
  }

  private Future<Subscription> find(SqlClient client, Call call, String id) {
    return store
        .find(client, call.merchantId(), id)
        .compose(
            found -> found.map(Future::succeededFuture).orElseGet(SubscriptionVerticle::notFound));
  }

  private Future<Subscription> findAndLock(SqlConnection tx, Call call, String id) {
    return store
        .findAndLock(tx, call.merchantId(), id)
        .compose(
            found -> found.map(Future::succeededFuture).orElseGet(SubscriptionVerticle::notFound));
  }

  private static <T> Future<T> notFound() {
    return FailureException.failed(Failure.notFound("subscription"));
  }

  private Future<SubscriptionView> getExpanded(GetExpandedSubscription get, Call call) {
    return find(pool, call, get.id())
        .compose(
            subscription -> {
              Id planId = subscription.view().planId();
              return catalog
                  .planViews(pool, call.merchantId(), List.of(planId.uuid()), Detail.EXPANDED)
                  .map(plans -> subscription.view().with(plans.get(planId)));
            });
  }

  private Future<SubscriptionPage> list(ListSubscriptions list, Call call) {
    Map<String, String> filters = list.filters();
    Filter filter =
        new Filter(
            Sql.filter(IdKind.CUSTOMER, filters.get("customerId")),
            Sql.filter(IdKind.SUBSCRIPTION, filters.get("id")),
            Sql.filter(IdKind.PLAN, filters.get("planId")),
            WireName.parseNullable(SubscriptionStatus.class, filters.get("status")));
    return store
        .count(pool, call.merchantId(), filter)
        .compose(
            count ->
                store
                    .page(pool, call.merchantId(), filter, list.paging())
                    .map(
                        page ->
                            new SubscriptionPage(
                                page, count, list.paging().pages(count), list.paging().page())));
  }

  /** An active one ends with its current period; one that has not begun is deleted. */
  private Future<SubscriptionCancelled> cancel(
      SqlConnection tx, CancelSubscription cancel, Call call) {
    return findAndLock(tx, call, cancel.id())
        .compose(found -> checkCustomer(tx, call, found, cancel.externalCustomerId()))
        .compose(found -> clock.now(tx, call).compose(now -> cancel(tx, call, found, now)))
        .map(view -> new SubscriptionCancelled(true, view));
  }

  private Future<SubscriptionView> cancel(
      SqlConnection tx, Call call, Subscription found, Instant now) {
    if (isOver(found.view(), now)) {
      return over(found, "cancelled");
    }
    return switch (found.view().status()) {
      case ACTIVE -> ends.endWithPeriod(tx, call, found, now);
      case PENDING_ACTIVATION ->
          !hasBegun(found.view(), now)
              ? deleteUpcoming(tx, call, found, now)
              // before the merchant's numbers, which its first invoice takes
              : CustomerLocks.lock(tx, List.of(found.view().customerId().uuid()))
                  .compose(locked -> start(tx, call, found))
                  .compose(active -> ends.endWithPeriod(tx, call, active, now));
      case DRAFT -> deleteUpcoming(tx, call, found, now);
      case ENDED, DELETED -> over(found, "cancelled");
    };
  }

  private Future<SubscriptionView> deleteUpcoming(
      SqlConnection tx, Call call, Subscription found, Instant now) {
    return markDeleted(tx, call, found, "cancelled before its start", now)
        .map(done -> found.view().with(SubscriptionStatus.DELETED, now));
  }

  /** Its time has come, and the clockwork has not taken notice yet. */
  private Future<Subscription> start(SqlConnection tx, Call call, Subscription found) {
    return drafts
        .idsAt(tx, call.merchantId(), List.of(found.nextPeriod()), InvoiceStatus.PAUSED)
        .compose(paused -> start(tx, call, found, paused.get(found.nextPeriod())));
  }

  private Future<Subscription> start(
      SqlConnection tx, Call call, Subscription found, Id pausedInvoice) {
    Boundary first =
        Boundary.first(found, found.schedule(call.merchant().zone()).period(0), pausedInvoice);
    return catalog
        .planTerms(tx, call.merchantId(), List.of(found.view().planId().uuid()))
        .compose(
            plans ->
                clock
                    .read(tx, call)
                    .compose(
                        reading ->
                            boundaries.pass(
                                tx, call, reading, List.of(first), plans, EventsBefore.LOCKED)))
        .map(outcome -> outcome.subscriptions().getFirst());
  }

  private Future<SubscriptionView> renew(SqlConnection tx, RenewSubscription renew, Call call) {
    return findAndLock(tx, call, renew.id())
        .compose(found -> checkCustomer(tx, call, found, renew.externalCustomerId()))
        .compose(found -> clock.now(tx, call).compose(now -> renew(tx, call, found, now)));
  }

  private Future<SubscriptionView> renew(
      SqlConnection tx, Call call, Subscription found, Instant now) {
    SubscriptionView view = found.view();
    if (isOver(view, now)) {
      return over(found, "renewed");
    }
    if (view.endDate() == null) {
      return Future.succeededFuture(view);
    }
    return ends.remove(tx, call, found, now);
  }

  /** Also one that has reached its end date before the billing run took notice. */
  private static boolean isOver(SubscriptionView view, Instant now) {
    return view.status() == SubscriptionStatus.ENDED
        || view.status() == SubscriptionStatus.DELETED
        || (view.endDate() != null && !view.endDate().isAfter(now));
  }

  private Future<SubscriptionDeleted> delete(
      SqlConnection tx, DeleteSubscription delete, Call call) {
    return findAndLock(tx, call, delete.id())
        .compose(
            found ->
                switch (found.view().status()) {
                  case ACTIVE -> active();
                  case DELETED -> Future.<Void>succeededFuture();
                  case DRAFT, PENDING_ACTIVATION, ENDED ->
                      clock
                          .now(tx, call)
                          .compose(
                              now ->
                                  hasBegun(found.view(), now)
                                      ? active()
                                      : markDeleted(tx, call, found, "deleted", now));
                })
        .map(done -> new SubscriptionDeleted(new Id(IdKind.SUBSCRIPTION, uuid(delete.id()))));
  }

  private static Future<Void> active() {
    return FailureException.failed(
        new Failure.Conflict(
            "subscription_active",
            "An active subscription cannot be deleted; cancel it first. "
                + allowed(SubscriptionStatus.ACTIVE)));
  }

  /** Its time has come, and the clockwork has not taken notice yet. */
  private static boolean hasBegun(SubscriptionView view, Instant now) {
    return view.status() == SubscriptionStatus.PENDING_ACTIVATION && !view.startDate().isAfter(now);
  }

  private static String allowed(SubscriptionStatus status) {
    Set<SubscriptionStatus> next = SubscriptionTransitions.from(status);
    return next.isEmpty()
        ? "Nothing follows " + status.wire() + "."
        : "Allowed from %s: %s."
            .formatted(
                status.wire(),
                next.stream().map(SubscriptionStatus::wire).collect(Collectors.joining(", ")));
  }

  private Future<Void> markDeleted(
      SqlConnection tx, Call call, Subscription found, String reason, Instant now) {
    SubscriptionChange change =
        new SubscriptionChange(
            found.id().uuid(), found.view().status(), SubscriptionStatus.DELETED, now);
    Cause cause = new Cause(Actor.MERCHANT, reason, call.requestId(), clock.systemNow());
    return store
        .setStatus(tx, call.merchantId(), found, change.to(), now)
        .compose(
            done -> transitions.recordSubscriptions(tx, call.merchantId(), List.of(change), cause));
  }

  private static UUID uuid(String id) {
    return Sql.uuid(IdKind.SUBSCRIPTION, id);
  }

  private Future<Subscription> checkCustomer(
      SqlConnection tx, Call call, Subscription found, String externalCustomerId) {
    return store
        .externalCustomerId(tx, call.merchantId(), found.id())
        .compose(
            actual ->
                actual.equals(externalCustomerId)
                    ? Future.succeededFuture(found)
                    : FailureException.failed(
                        new Failure.Rejected(
                            "customer_mismatch",
                            "The subscription belongs to another customer.",
                            List.of(
                                Failure.Fault.at(
                                    "/externalCustomerId",
                                    "customer_mismatch",
                                    "Must be the external id of the subscription's customer.")))));
  }

  private static <T> Future<T> over(Subscription found, String attempted) {
    SubscriptionStatus state =
        found.view().status() == SubscriptionStatus.DELETED
            ? SubscriptionStatus.DELETED
            : SubscriptionStatus.ENDED;
    return FailureException.failed(
        new Failure.Conflict(
            "subscription_" + state.wire(),
            "A subscription that is %s cannot be %s. %s"
                .formatted(state.wire(), attempted, allowed(state))));
  }
}

package io.steelyard.customer;

import io.steelyard.bus.Call;
import io.steelyard.catalog.CatalogMessages.PlanView;
import io.steelyard.catalog.CatalogStore;
import io.steelyard.catalog.Detail;
import io.steelyard.credit.CreditStore;
import io.steelyard.credit.CreditStore.Balance;
import io.steelyard.customer.CreationStore.NewCustomer;
import io.steelyard.customer.CustomerMessages.AccessView;
import io.steelyard.customer.CustomerMessages.CreatedCustomer;
import io.steelyard.customer.CustomerMessages.CustomerInput;
import io.steelyard.customer.CustomerMessages.UnitBalance;
import io.steelyard.db.Ids;
import io.steelyard.domain.Id;
import io.steelyard.domain.IdKind;
import io.steelyard.domain.PlanTerms;
import io.steelyard.domain.SubscriptionStatus;
import io.steelyard.merchant.MerchantClock;
import io.steelyard.subscription.Boundaries;
import io.steelyard.subscription.DefaultSubscription;
import io.steelyard.subscription.PeriodStore.EventsBefore;
import io.steelyard.subscription.Subscription;
import io.steelyard.subscription.SubscriptionMessages.SubscriptionView;
import io.vertx.core.Future;
import io.vertx.sqlclient.SqlConnection;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/**
 * Creates customers and, where the merchant has a default plan, their subscriptions with the first
 * period, units and invoice, all in the caller's transaction.
 */
final class CustomerCreation {
  private final MerchantClock clock;
  private final CreationStore customers = new CreationStore();
  private final CatalogStore catalog = new CatalogStore();
  private final CreditStore credits = new CreditStore();
  private final Boundaries boundaries;

  CustomerCreation(MerchantClock clock, Boundaries boundaries) {
    this.clock = clock;
    this.boundaries = boundaries;
  }

  /** What new customers are subscribed to; as the catalogue is now, not as it once was. */
  private record DefaultPlan(PlanTerms terms, PlanView view) {}

  /**
   * @param subscription null without a default plan
   */
  private record Created(NewCustomer customer, Subscription subscription) {
    Id id() {
      return customer.id();
    }
  }

  /** In the order given; empty for one whose externalId is taken, also by one before it. */
  Future<List<Optional<CreatedCustomer>>> create(
      SqlConnection tx, Call call, List<CustomerInput> inputs) {
    return clock
        .now(tx, call)
        .compose(
            now ->
                defaultPlan(tx, call.merchantId())
                    .compose(plan -> create(tx, call, inputs, plan, now)));
  }

  private Future<Optional<DefaultPlan>> defaultPlan(SqlConnection tx, UUID merchantId) {
    return catalog
        .defaultPlanId(tx, merchantId)
        .compose(
            id ->
                id.isEmpty()
                    ? Future.succeededFuture(Optional.empty())
                    : plan(tx, merchantId, id.get()));
  }

  private Future<Optional<DefaultPlan>> plan(SqlConnection tx, UUID merchantId, Id id) {
    List<UUID> wanted = List.of(id.uuid());
    // both are sent at once
    return Future.all(
            catalog.planTerms(tx, merchantId, wanted),
            catalog.planViews(tx, merchantId, wanted, Detail.PLAIN))
        .map(
            both -> {
              Map<Id, PlanTerms> terms = both.resultAt(0);
              Map<Id, PlanView> views = both.resultAt(1);
              return Optional.ofNullable(terms.get(id))
                  .filter(PlanTerms::available)
                  .map(available -> new DefaultPlan(available, views.get(id)));
            });
  }

  private Future<List<Optional<CreatedCustomer>>> create(
      SqlConnection tx,
      Call call,
      List<CustomerInput> inputs,
      Optional<DefaultPlan> plan,
      Instant now) {
    List<NewCustomer> wanted =
        inputs.stream().map(input -> new NewCustomer(Ids.next(IdKind.CUSTOMER), input)).toList();
    boolean trial = plan.isPresent() && plan.get().terms().trialDays() > 0;
    return customers
        .insert(tx, call.merchantId(), wanted, trial, now)
        .compose(
            inserted -> {
              List<Created> created =
                  wanted.stream()
                      .filter(each -> inserted.contains(each.id().uuid()))
                      .map(each -> subscribed(each, plan, call, now))
                      .toList();
              return subscribe(tx, call, created, plan)
                  .compose(done -> answers(tx, call, created, plan, now))
                  .map(
                      answers ->
                          wanted.stream()
                              .map(each -> Optional.ofNullable(answers.get(each.id())))
                              .toList());
            });
  }

  private Created subscribed(
      NewCustomer customer, Optional<DefaultPlan> plan, Call call, Instant now) {
    return new Created(
        customer,
        plan.map(
                it ->
                    DefaultSubscription.of(customer.id(), it.terms(), call, now, clock.systemNow()))
            .orElse(null));
  }

  private Future<Void> subscribe(
      SqlConnection tx, Call call, List<Created> created, Optional<DefaultPlan> plan) {
    if (plan.isEmpty() || created.isEmpty()) {
      return Future.succeededFuture();
    }
    PlanTerms terms = plan.get().terms();
    return boundaries.store(
        tx,
        call,
        created.stream().map(Created::subscription).toList(),
        Map.of(terms.id(), terms),
        EventsBefore.NONE);
  }

  private Future<Map<Id, CreatedCustomer>> answers(
      SqlConnection tx, Call call, List<Created> created, Optional<DefaultPlan> plan, Instant now) {
    if (created.isEmpty()) {
      return Future.succeededFuture(Map.of());
    }
    UUID[] ids = created.stream().map(each -> each.id().uuid()).toArray(UUID[]::new);
    // both are sent at once
    return Future.all(
            customers.access(tx, call.merchantId(), ids),
            credits.balances(tx, call.merchantId(), ids, now))
        .map(
            both -> {
              Map<UUID, List<AccessView>> access = both.resultAt(0);
              Map<UUID, List<Balance>> balances = both.resultAt(1);
              Map<Id, CreatedCustomer> answers = new HashMap<>();
              for (Created each : created) {
                UUID id = each.id().uuid();
                answers.put(
                    each.id(),
                    answer(
                        each.customer(),
                        call,
                        views(each, plan),
                        access.getOrDefault(id, List.of()),
                        balances.getOrDefault(id, List.of()),
                        now));
              }
              return answers;
            });
  }

  private static List<SubscriptionView> views(Created created, Optional<DefaultPlan> plan) {
    return plan.map(it -> List.of(created.subscription().view().with(it.view()))).orElse(List.of());
  }

  private static CreatedCustomer answer(
      NewCustomer customer,
      Call call,
      List<SubscriptionView> subscriptions,
      List<AccessView> access,
      List<Balance> balances,
      Instant now) {
    Map<String, String> fields = customer.input().fields();
    return new CreatedCustomer(
        customer.id(),
        call.merchant().id(),
        customer.input().externalId(),
        fields.get("name"),
        fields.get("email"),
        fields.get("billingAddress1"),
        fields.get("billingAddress2"),
        fields.get("billingCity"),
        fields.get("billingCountry"),
        fields.get("billingState"),
        fields.get("billingZipCode"),
        fields.get("shippingAddress1"),
        fields.get("shippingAddress2"),
        fields.get("shippingCity"),
        fields.get("shippingCountry"),
        fields.get("shippingState"),
        fields.get("shippingZipCode"),
        fields.get("ledgerAId"),
        fields.get("cardGatewayId"),
        fields.get("ledgerBId"),
        now,
        now,
        subscriptions,
        withStatus(subscriptions, SubscriptionStatus.ACTIVE),
        withStatus(subscriptions, SubscriptionStatus.PENDING_ACTIVATION),
        access,
        balances.stream().map(each -> new UnitBalance(each.unitId(), each.remaining())).toList(),
        List.of(),
        subscriptions.stream().noneMatch(SubscriptionView::isTrial));
  }

  private static List<SubscriptionView> withStatus(
      List<SubscriptionView> subscriptions, SubscriptionStatus status) {
    return subscriptions.stream().filter(each -> each.status() == status).toList();
  }
}

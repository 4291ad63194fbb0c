package io.steelyard.customer;

import io.steelyard.bus.Call;
import io.steelyard.catalog.CatalogMessages.PlanView;
import io.steelyard.catalog.CatalogStore;
import io.steelyard.catalog.Detail;
import io.steelyard.credit.CreditStore;
import io.steelyard.credit.CreditStore.Balance;
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
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;

/**
 * Creates a customer and, where the merchant has a default plan, its subscription with the first
 * period, units and invoice, all in the caller's transaction.
 */
final class CustomerCreation {
  private final MerchantClock clock;
  private final CustomerStore customers = new CustomerStore();
  private final CatalogStore catalog = new CatalogStore();
  private final CreditStore credits = new CreditStore();
  private final Boundaries boundaries;

  CustomerCreation(MerchantClock clock, Boundaries boundaries) {
    this.clock = clock;
    this.boundaries = boundaries;
  }

  Future<CreatedCustomer> create(SqlConnection tx, Call call, CustomerInput input) {
    return clock
        .now(tx, call)
        .compose(
            now ->
                defaultPlan(tx, call.merchantId())
                    .compose(plan -> create(tx, call, input, plan, now)));
  }

  private Future<Optional<PlanTerms>> defaultPlan(SqlConnection tx, UUID merchantId) {
    return catalog
        .defaultPlanId(tx, merchantId)
        .compose(
            planId ->
                planId.isEmpty()
                    ? Future.succeededFuture(Optional.empty())
                    : catalog
                        .planTerms(tx, merchantId, List.of(planId.get().uuid()))
                        .map(
                            plans ->
                                Optional.ofNullable(plans.get(planId.get()))
                                    .filter(PlanTerms::available)));
  }

  private Future<CreatedCustomer> create(
      SqlConnection tx, Call call, CustomerInput input, Optional<PlanTerms> plan, Instant now) {
    UUID merchantId = call.merchantId();
    Id id = Ids.next(IdKind.CUSTOMER);
    List<Subscription> subscriptions =
        plan.map(terms -> List.of(DefaultSubscription.of(id, terms, call, now, clock.systemNow())))
            .orElse(List.of());
    boolean trial = subscriptions.stream().anyMatch(each -> each.view().isTrial());
    Map<Id, PlanTerms> plans = plan.map(terms -> Map.of(terms.id(), terms)).orElse(Map.of());
    return customers
        .insert(tx, merchantId, id, input, trial, now)
        .compose(done -> boundaries.store(tx, call, subscriptions, plans, EventsBefore.NONE))
        .compose(done -> catalog.planViews(tx, merchantId, uuids(plans), Detail.PLAIN))
        .compose(
            planViews ->
                customers
                    .access(tx, merchantId, id)
                    .compose(
                        access ->
                            credits
                                .balances(tx, merchantId, id, now)
                                .map(
                                    balances ->
                                        answer(
                                            id,
                                            call,
                                            input,
                                            views(subscriptions, planViews),
                                            access,
                                            balances,
                                            !trial,
                                            now))));
  }

  private static List<UUID> uuids(Map<Id, PlanTerms> plans) {
    return plans.keySet().stream().map(Id::uuid).toList();
  }

  private static List<SubscriptionView> views(
      List<Subscription> subscriptions, Map<Id, PlanView> plans) {
    return subscriptions.stream()
        .map(each -> each.view().with(plans.get(each.view().planId())))
        .toList();
  }

  private static CreatedCustomer answer(
      Id id,
      Call call,
      CustomerInput input,
      List<SubscriptionView> subscriptions,
      List<AccessView> access,
      List<Balance> balances,
      boolean eligibleForTrial,
      Instant now) {
    Map<String, String> fields = input.fields();
    return new CreatedCustomer(
        id,
        call.merchant().id(),
        input.externalId(),
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
        eligibleForTrial);
  }

  private static List<SubscriptionView> withStatus(
      List<SubscriptionView> subscriptions, SubscriptionStatus status) {
    return subscriptions.stream().filter(each -> each.status() == status).toList();
  }
}

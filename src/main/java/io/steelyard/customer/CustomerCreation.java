package io.steelyard.customer;

import io.steelyard.bus.Call;
import io.steelyard.credit.CreditStore.NewBlock;
import io.steelyard.customer.CreationStore.NewCustomer;
import io.steelyard.customer.CustomerMessages.AccessView;
import io.steelyard.customer.CustomerMessages.CreatedCustomer;
import io.steelyard.customer.CustomerMessages.CustomerInput;
import io.steelyard.customer.CustomerMessages.UnitBalance;
import io.steelyard.customer.DefaultPlans.DefaultPlan;
import io.steelyard.db.Ids;
import io.steelyard.domain.Id;
import io.steelyard.domain.IdKind;
import io.steelyard.domain.PlanTerms;
import io.steelyard.domain.SubscriptionStatus;
import io.steelyard.merchant.MerchantClock;
import io.steelyard.subscription.AccessStore.OpenAccess;
import io.steelyard.subscription.Boundaries;
import io.steelyard.subscription.Boundaries.Begun;
import io.steelyard.subscription.DefaultSubscription;
import io.steelyard.subscription.PeriodStore.EventsBefore;
import io.steelyard.subscription.Subscription;
import io.steelyard.subscription.SubscriptionMessages.SubscriptionView;
import io.vertx.core.Future;
import io.vertx.sqlclient.SqlConnection;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;

/**
 * Creates customers and, where the merchant has a default plan, their subscriptions with the first
 * period, units and invoice, all in the caller's transaction. Shared by all instances of a process.
 */
final class CustomerCreation {
  private final MerchantClock clock;
  private final CreationStore customers = new CreationStore();
  private final DefaultPlans plans = new DefaultPlans();
  private final Boundaries boundaries;

  CustomerCreation(MerchantClock clock, Boundaries boundaries) {
    this.clock = clock;
    this.boundaries = boundaries;
  }

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
        .read(tx, call)
        .compose(
            reading ->
                plans
                    .of(tx, call.merchantId())
                    .compose(plan -> create(tx, call, inputs, plan, reading)));
  }

  private Future<List<Optional<CreatedCustomer>>> create(
      SqlConnection tx,
      Call call,
      List<CustomerInput> inputs,
      Optional<DefaultPlan> plan,
      MerchantClock.Reading reading) {
    Instant now = reading.now();
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
                      .map(each -> subscribed(each, plan, call, reading))
                      .toList();
              return subscribe(tx, call, created, plan)
                  .map(
                      begun -> {
                        Map<Id, CreatedCustomer> answers = answers(call, created, plan, begun, now);
                        return wanted.stream()
                            .map(each -> Optional.ofNullable(answers.get(each.id())))
                            .toList();
                      });
            });
  }

  private Created subscribed(
      NewCustomer customer, Optional<DefaultPlan> plan, Call call, MerchantClock.Reading reading) {
    return new Created(
        customer,
        plan.map(
                it ->
                    DefaultSubscription.of(
                        customer.id(), it.terms(), call, reading, clock.systemNow()))
            .orElse(null));
  }

  private Future<List<Begun>> subscribe(
      SqlConnection tx, Call call, List<Created> created, Optional<DefaultPlan> plan) {
    if (plan.isEmpty() || created.isEmpty()) {
      return Future.succeededFuture(List.of());
    }
    PlanTerms terms = plan.get().terms();
    return boundaries.store(
        tx,
        call,
        created.stream().map(Created::subscription).toList(),
        Map.of(terms.id(), terms),
        EventsBefore.NONE);
  }

  private static Map<Id, CreatedCustomer> answers(
      Call call,
      List<Created> created,
      Optional<DefaultPlan> plan,
      List<Begun> begun,
      Instant now) {
    Map<Id, Begun> bySubscription = new HashMap<>();
    begun.forEach(each -> bySubscription.put(each.subscriptionId(), each));
    Map<Id, CreatedCustomer> answers = new HashMap<>();
    for (Created each : created) {
      Begun with =
          each.subscription() == null ? null : bySubscription.get(each.subscription().id());
      answers.put(
          each.id(),
          answer(
              each.customer(),
              call,
              views(each, plan),
              with == null ? List.of() : with.access().stream().map(it -> view(it, call)).toList(),
              with == null ? List.of() : balances(with.blocks(), now),
              now));
    }
    return answers;
  }

  private static AccessView view(OpenAccess access, Call call) {
    SubscriptionView subscription = access.subscription().view();
    return new AccessView(
        access.access(),
        access.at(),
        subscription.endDate(),
        access.id(),
        false,
        subscription.startDate(),
        access.at(),
        access.billableId(),
        subscription.customerId(),
        call.merchant().id(),
        subscription.id(),
        BigDecimal.ZERO);
  }

  /** What there is of each unit now, in the order of the units. */
  private static List<UnitBalance> balances(List<NewBlock> blocks, Instant now) {
    Map<Id, BigDecimal> balances = new TreeMap<>();
    blocks.stream()
        .filter(block -> block.isValidAt(now))
        .forEach(block -> balances.merge(block.unitId(), block.amount(), BigDecimal::add));
    return balances.entrySet().stream()
        .map(each -> new UnitBalance(each.getKey(), each.getValue()))
        .toList();
  }

  private static List<SubscriptionView> views(Created created, Optional<DefaultPlan> plan) {
    return plan.map(it -> List.of(created.subscription().view().with(it.view()))).orElse(List.of());
  }

  private static CreatedCustomer answer(
      NewCustomer customer,
      Call call,
      List<SubscriptionView> subscriptions,
      List<AccessView> access,
      List<UnitBalance> balances,
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
        balances,
        List.of(),
        subscriptions.stream().noneMatch(SubscriptionView::isTrial));
  }

  private static List<SubscriptionView> withStatus(
      List<SubscriptionView> subscriptions, SubscriptionStatus status) {
    return subscriptions.stream().filter(each -> each.status() == status).toList();
  }
}

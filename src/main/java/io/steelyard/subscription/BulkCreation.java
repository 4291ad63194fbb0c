package io.steelyard.subscription;

import io.steelyard.bus.Call;
import io.steelyard.bus.Failure;
import io.steelyard.bus.Failure.Fault;
import io.steelyard.bus.FailureException;
import io.steelyard.catalog.CatalogStore;
import io.steelyard.db.Ids;
import io.steelyard.db.Sql;
import io.steelyard.domain.BillingCadence;
import io.steelyard.domain.Id;
import io.steelyard.domain.IdKind;
import io.steelyard.domain.PaymentGateway;
import io.steelyard.domain.PlanTerms;
import io.steelyard.domain.PriceTerms;
import io.steelyard.domain.SubscriptionStatus;
import io.steelyard.gateway.GatewayStore;
import io.steelyard.merchant.MerchantClock;
import io.steelyard.subscription.PeriodStore.EventsBefore;
import io.steelyard.subscription.SubscriptionMessages.NewSubscription;
import io.steelyard.subscription.SubscriptionMessages.SubscriptionView;
import io.steelyard.subscription.SubscriptionMessages.Subscriptions;
import io.vertx.core.Future;
import io.vertx.sqlclient.SqlClient;
import io.vertx.sqlclient.SqlConnection;
import io.vertx.sqlclient.Tuple;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;

/** Creates many subscriptions or none: checks all of them first and names every fault. */
final class BulkCreation {
  private static final String KNOWN_CUSTOMERS =
      "SELECT id FROM customer WHERE merchant_id = $1 AND id = ANY ($2::uuid[])";

  private final MerchantClock clock;
  private final CatalogStore catalog = new CatalogStore();
  private final Boundaries boundaries;

  BulkCreation(MerchantClock clock, Boundaries boundaries) {
    this.clock = clock;
    this.boundaries = boundaries;
  }

  /** What the checks need to know of the database. */
  private record Known(
      Set<UUID> customers,
      Map<Id, PlanTerms> plans,
      boolean cardGateway,
      MerchantClock.Reading clock,
      Instant systemNow) {
    Instant pricedAt(PlanTerms plan) {
      return BoundaryDrafting.Moment.pricedNow(systemNow, plan);
    }
  }

  Future<Subscriptions> create(SqlConnection tx, Call call, List<NewSubscription> wanted) {
    return known(tx, call, wanted)
        .compose(
            known -> {
              List<Fault> faults = faults(wanted, known);
              if (!faults.isEmpty()) {
                return FailureException.failed(rejected(faults));
              }
              List<Subscription> created =
                  wanted.stream().map(each -> subscription(each, known, call)).toList();
              return boundaries
                  .store(tx, call, created, known.plans(), EventsBefore.UNKNOWN)
                  .map(
                      done -> new Subscriptions(created.stream().map(Subscription::view).toList()));
            });
  }

  private Future<Known> known(SqlConnection tx, Call call, List<NewSubscription> wanted) {
    UUID merchantId = call.merchantId();
    List<UUID> planIds =
        wanted.stream()
            .map(each -> Id.parse(IdKind.PLAN, each.planId()))
            .flatMap(Optional::stream)
            .map(Id::uuid)
            .distinct()
            .toList();
    return knownCustomers(tx, merchantId, wanted)
        .compose(
            customers ->
                catalog
                    .planTerms(tx, merchantId, planIds)
                    .compose(
                        plans ->
                            GatewayStore.isConnected(tx, merchantId, PaymentGateway.CARD_GATEWAY)
                                .compose(
                                    connected ->
                                        clock
                                            .read(tx, call)
                                            .map(
                                                reading ->
                                                    new Known(
                                                        customers,
                                                        plans,
                                                        connected,
                                                        reading,
                                                        clock.systemNow())))));
  }

  private static Future<Set<UUID>> knownCustomers(
      SqlClient tx, UUID merchantId, List<NewSubscription> wanted) {
    UUID[] ids =
        wanted.stream()
            .map(each -> Sql.uuid(IdKind.CUSTOMER, each.customerId()))
            .filter(Objects::nonNull)
            .distinct()
            .toArray(UUID[]::new);
    return tx.preparedQuery(KNOWN_CUSTOMERS)
        .execute(Tuple.of(merchantId).addValue(ids))
        .map(
            rows -> {
              Set<UUID> known = new HashSet<>();
              rows.forEach(row -> known.add(row.getUUID("id")));
              return known;
            });
  }

  private static List<Fault> faults(List<NewSubscription> wanted, Known known) {
    List<Fault> faults = new ArrayList<>();
    for (int i = 0; i < wanted.size(); i++) {
      check(wanted.get(i), "/" + i, known, faults);
    }
    return faults;
  }

  private static void check(NewSubscription wanted, String at, Known known, List<Fault> faults) {
    UUID customer = Sql.uuid(IdKind.CUSTOMER, wanted.customerId());
    if (customer == null || !known.customers().contains(customer)) {
      faults.add(Fault.at(at + "/customerId", "unknown_customer", "There is no such customer."));
    }
    PlanTerms plan = plan(wanted, known);
    if (plan == null) {
      faults.add(Fault.at(at + "/planId", "unknown_plan", "There is no such plan."));
    } else if (!plan.available()) {
      faults.add(Fault.at(at + "/planId", "plan_archived", "The plan is archived."));
    } else if (billsNoFixedPrice(wanted.billingCadence(), plan, known.pricedAt(plan))) {
      faults.add(
          Fault.at(
              at + "/billingCadence",
              "cadence_not_offered",
              "The plan has no base price of this cadence."));
    }
    Instant start = wanted.startDate() == null ? known.clock().now() : wanted.startDate();
    if (wanted.endDate() != null && !wanted.endDate().isAfter(start)) {
      faults.add(Fault.at(at + "/endDate", "end_before_start", "Must be after startDate."));
    }
    if (Boolean.TRUE.equals(wanted.autoChargeInvoice())) {
      if (wanted.paymentGateway() != PaymentGateway.CARD_GATEWAY) {
        faults.add(
            Fault.at(
                at + "/autoChargeInvoice",
                "auto_charge_needs_card_gateway",
                "Needs paymentGateway CardGateway."));
      } else if (!known.cardGateway()) {
        faults.add(
            Fault.at(
                at + "/autoChargeInvoice",
                "gateway_not_connected",
                "The merchant has no card gateway connected."));
      }
    }
  }

  /** A plan that only meters may be billed at any cadence; another would be given away. */
  private static boolean billsNoFixedPrice(BillingCadence wish, PlanTerms plan, Instant pricedAt) {
    return wish != null
        && plan.defaultCadence(pricedAt).isPresent()
        && plan.pricesFor(wish, pricedAt).stream().noneMatch(PriceTerms::base);
  }

  private static Failure rejected(List<Fault> faults) {
    String detail =
        faults.size() == 1
            ? faults.get(0).pointer() + ": " + faults.get(0).message()
            : faults.size() + " faults in the subscriptions; none was created.";
    return new Failure.Rejected(faults.get(0).code(), detail, faults);
  }

  private static PlanTerms plan(NewSubscription wanted, Known known) {
    return Id.parse(IdKind.PLAN, wanted.planId()).map(known.plans()::get).orElse(null);
  }

  private static Subscription subscription(NewSubscription wanted, Known known, Call call) {
    PlanTerms plan = plan(wanted, known);
    Instant now = known.clock().now();
    Instant created = BoundaryDrafting.Moment.created(known.clock(), plan);
    Instant start = wanted.startDate() == null ? now : wanted.startDate();
    SubscriptionView view =
        new SubscriptionView(
            Ids.next(IdKind.SUBSCRIPTION),
            Id.parse(IdKind.CUSTOMER, wanted.customerId()).orElseThrow(),
            plan.id(),
            call.merchant().id(),
            start.isAfter(now) ? SubscriptionStatus.PENDING_ACTIVATION : SubscriptionStatus.ACTIVE,
            start,
            wanted.endDate(),
            cadence(wanted.billingCadence(), plan, known.pricedAt(plan)),
            wanted.currency() == null ? plan.currency() : wanted.currency(),
            wanted.netTerms() == null ? plan.netTerms() : wanted.netTerms(),
            wanted.paymentGateway(),
            wanted.allowCustomerChanges() == null || wanted.allowCustomerChanges(),
            Boolean.TRUE.equals(wanted.autoChargeInvoice()),
            Boolean.TRUE.equals(wanted.autoSyncInvoice()),
            Boolean.TRUE.equals(wanted.autoSendInvoice()),
            false,
            null,
            created,
            created,
            null);
    return new Subscription(view, null, wanted.invoiceGenerationStartDate(), null, null);
  }

  /** Without a wish and without a base price, a plan that only meters is billed monthly. */
  static BillingCadence cadence(BillingCadence wish, PlanTerms plan, Instant pricedAt) {
    return wish != null ? wish : plan.defaultCadence(pricedAt).orElse(BillingCadence.MONTHLY);
  }
}

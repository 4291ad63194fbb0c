package io.steelyard.customer;

import io.steelyard.bus.Address;
import io.steelyard.bus.Reply;
import io.steelyard.bus.Request;
import io.steelyard.domain.Id;
import io.steelyard.domain.Paging;
import io.steelyard.subscription.SubscriptionMessages.SubscriptionView;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What the customer verticle may be asked. */
public sealed interface CustomerMessages<R extends Reply> extends Request<R> {
  @Override
  default Address address() {
    return Address.CUSTOMER;
  }

  /** Stores a customer and subscribes it to the default plan, all in one transaction. */
  record CreateCustomer(CustomerInput input) implements CustomerMessages<CreatedCustomer> {}

  /** Creates or updates by externalId, all or nothing, without a subscription. */
  record UpsertCustomers(List<CustomerInput> inputs) implements CustomerMessages<Customers> {
    public UpsertCustomers {
      inputs = List.copyOf(inputs);
    }
  }

  /** The customer with this service id, which may be any text. */
  record GetCustomer(String id) implements CustomerMessages<CustomerView> {}

  record GetCustomerByExternalId(String externalId) implements CustomerMessages<CustomerView> {}

  /**
   * @param filters documented filter name to the value it must equal
   */
  record ListCustomers(Map<String, String> filters, Paging paging)
      implements CustomerMessages<CustomerPage> {
    public ListCustomers {
      filters = Map.copyOf(filters);
    }
  }

  /** Makes a private plan available to a customer. Idempotent. */
  record GrantPrivatePlan(String customerId, String planId)
      implements CustomerMessages<PrivatePlanGranted> {}

  /** Stores the gateway's id of a customer that has none; one that has keeps its own. */
  record LinkCardGateway(Id customerId, String cardGatewayId)
      implements CustomerMessages<CustomerView> {}

  /**
   * The writable fields that the caller sent; a field sent as null is present with a null value, a
   * field left out is absent.
   */
  record CustomerInput(Map<String, String> fields) {
    /** Every writable field, in the order of the documented table. */
    public static final List<String> FIELDS =
        List.of(
            "externalId",
            "name",
            "email",
            "billingAddress1",
            "billingAddress2",
            "billingCity",
            "billingCountry",
            "billingState",
            "billingZipCode",
            "shippingAddress1",
            "shippingAddress2",
            "shippingCity",
            "shippingCountry",
            "shippingState",
            "shippingZipCode",
            "ledgerAId",
            "cardGatewayId",
            "ledgerBId");

    public CustomerInput {
      fields = Collections.unmodifiableMap(new LinkedHashMap<>(fields));
    }

    public String externalId() {
      return fields.get("externalId");
    }
  }

  record CustomerView(
      Id id,
      Id merchantId,
      String externalId,
      String name,
      String email,
      String billingAddress1,
      String billingAddress2,
      String billingCity,
      String billingCountry,
      String billingState,
      String billingZipCode,
      String shippingAddress1,
      String shippingAddress2,
      String shippingCity,
      String shippingCountry,
      String shippingState,
      String shippingZipCode,
      String ledgerAId,
      String cardGatewayId,
      Instant createdAt,
      Instant updatedAt)
      implements Reply {}

  record Customers(List<CustomerView> customers) implements Reply {
    @Override
    public Object shown() {
      return customers;
    }
  }

  record CustomerPage(List<CustomerView> results, long count, long pages, long currentPage)
      implements Reply {}

  record PrivatePlanGranted(Id customerId, Id planId) implements Reply {}

  /** The answer of creation: the customer, and all that its default plan brought. */
  record CreatedCustomer(
      Id id,
      Id merchantId,
      String externalId,
      String name,
      String email,
      String billingAddress1,
      String billingAddress2,
      String billingCity,
      String billingCountry,
      String billingState,
      String billingZipCode,
      String shippingAddress1,
      String shippingAddress2,
      String shippingCity,
      String shippingCountry,
      String shippingState,
      String shippingZipCode,
      String ledgerAId,
      String cardGatewayId,
      String ledgerBId,
      Instant createdAt,
      Instant updatedAt,
      List<SubscriptionView> subscriptions,
      List<SubscriptionView> activeSubscriptions,
      List<SubscriptionView> upcomingSubscriptions,
      List<AccessView> conditionalBillableAccess,
      List<UnitBalance> customPricingUnits,
      List<PrivatePlan> customerPrivatePlans,
      boolean isEligibleForTrial)
      implements Reply {}

  record AccessView(
      boolean access,
      Instant createdAt,
      Instant endDate,
      Id id,
      boolean invalidated,
      Instant startDate,
      Instant updatedAt,
      Id billableId,
      Id customerId,
      Id merchantId,
      Id subscriptionId,
      BigDecimal currentUsage) {}

  record UnitBalance(Id customPricingUnitId, BigDecimal balance) {}

  record PrivatePlan(Id planId) {}
}

package io.steelyard.usage;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/**
 * What one customer has in a fold.
 *
 * @param customerId null for events of no customer id at all
 * @param events in their order, at least one
 */
record CustomerEvents(UUID merchantId, UUID customerId, List<StoredEvent> events) {
  private static final Comparator<CustomerEvents> BY_CUSTOMER =
      Comparator.comparing(
              CustomerEvents::customerId, Comparator.nullsFirst(Comparator.naturalOrder()))
          .thenComparing(CustomerEvents::merchantId);

  /** By customer, so that neighbours in an index come one after the other. */
  static List<CustomerEvents> of(List<StoredEvent> events) {
    Map<UUID, Map<UUID, List<StoredEvent>>> byMerchant = new HashMap<>();
    UUID merchantId = null;
    Map<UUID, List<StoredEvent>> byCustomer = Map.of();
    for (StoredEvent event : events) {
      if (!event.merchantId().equals(merchantId)) { // they come merchant by merchant
        merchantId = event.merchantId();
        byCustomer = byMerchant.computeIfAbsent(merchantId, id -> new HashMap<>());
      }
      byCustomer.computeIfAbsent(event.customerId(), id -> new ArrayList<>()).add(event);
    }
    List<CustomerEvents> groups = new ArrayList<>();
    byMerchant.forEach(
        (merchant, customers) ->
            customers.forEach(
                (customerId, own) -> {
                  own.sort(StoredEvent.IN_ORDER); // nearly sorted as they come
                  groups.add(new CustomerEvents(merchant, customerId, own));
                }));
    groups.sort(BY_CUSTOMER);
    return groups;
  }

  StoredEvent first() {
    return events.getFirst();
  }

  StoredEvent last() {
    return events.getLast();
  }
}

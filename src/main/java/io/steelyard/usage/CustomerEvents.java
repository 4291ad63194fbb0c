package io.steelyard.usage;

import io.steelyard.usage.EventContent.Element;
import java.time.Instant;
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
 * @param elements in their order, at least one
 */
record CustomerEvents(UUID merchantId, UUID customerId, List<Element> elements) {
  private static final Comparator<Element> IN_ORDER =
      (one, other) -> StoredEvent.IN_ORDER.compare(one.event(), other.event());
  private static final Comparator<CustomerEvents> BY_CUSTOMER =
      Comparator.comparing(
              CustomerEvents::customerId, Comparator.nullsFirst(Comparator.naturalOrder()))
          .thenComparing(CustomerEvents::merchantId);

  /** By customer, so that neighbours in an index come one after the other. */
  static List<CustomerEvents> of(List<Element> elements) {
    Map<UUID, Map<UUID, List<Element>>> byMerchant = new HashMap<>();
    for (Element element : elements) {
      StoredEvent event = element.event();
      byMerchant
          .computeIfAbsent(event.merchantId(), id -> new HashMap<>())
          .computeIfAbsent(event.customerId(), id -> new ArrayList<>())
          .add(element);
    }
    List<CustomerEvents> groups = new ArrayList<>();
    byMerchant.forEach(
        (merchantId, byCustomer) ->
            byCustomer.forEach(
                (customerId, own) -> {
                  own.sort(IN_ORDER); // nearly sorted as they come
                  groups.add(new CustomerEvents(merchantId, customerId, own));
                }));
    groups.sort(BY_CUSTOMER);
    return groups;
  }

  Instant first() {
    return elements.getFirst().event().generatedAt();
  }

  Instant last() {
    return elements.getLast().event().generatedAt();
  }
}

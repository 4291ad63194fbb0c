package io.steelyard.domain;

import static io.steelyard.domain.SubscriptionStatus.ACTIVE;
import static io.steelyard.domain.SubscriptionStatus.DELETED;
import static io.steelyard.domain.SubscriptionStatus.DRAFT;
import static io.steelyard.domain.SubscriptionStatus.ENDED;
import static io.steelyard.domain.SubscriptionStatus.PENDING_ACTIVATION;

import java.util.EnumSet;
import java.util.Map;
import java.util.Set;

/** Which state of a subscription may follow which. The one place that says so. */
public final class SubscriptionTransitions {
  private static final Map<SubscriptionStatus, Set<SubscriptionStatus>> NEXT =
      Map.of(
          DRAFT, EnumSet.of(PENDING_ACTIVATION, ACTIVE, DELETED),
          PENDING_ACTIVATION, EnumSet.of(ACTIVE, DELETED),
          ACTIVE, EnumSet.of(ENDED),
          ENDED, EnumSet.of(DELETED),
          DELETED, EnumSet.noneOf(SubscriptionStatus.class));

  private SubscriptionTransitions() {}

  public static boolean allows(SubscriptionStatus from, SubscriptionStatus to) {
    return NEXT.get(from).contains(to);
  }

  /** What may follow, in the order of the documented states; empty for an end. */
  public static Set<SubscriptionStatus> from(SubscriptionStatus status) {
    return EnumSet.copyOf(NEXT.get(status));
  }
}

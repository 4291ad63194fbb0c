package io.steelyard.domain;

import static io.steelyard.domain.InvoiceStatus.DELETED_FROM_PAYMENT_GATEWAY;
import static io.steelyard.domain.InvoiceStatus.DRAFT;
import static io.steelyard.domain.InvoiceStatus.ISSUED;
import static io.steelyard.domain.InvoiceStatus.OVERDUE;
import static io.steelyard.domain.InvoiceStatus.PAID;
import static io.steelyard.domain.InvoiceStatus.PAUSED;
import static io.steelyard.domain.InvoiceStatus.PAYMENT_ACTION_REQUIRED;
import static io.steelyard.domain.InvoiceStatus.PAYMENT_FAILED;
import static io.steelyard.domain.InvoiceStatus.PENDING;
import static io.steelyard.domain.InvoiceStatus.PENDING_PAYMENT;
import static io.steelyard.domain.InvoiceStatus.READY_TO_COLLECT;
import static io.steelyard.domain.InvoiceStatus.READY_TO_SEND;
import static io.steelyard.domain.InvoiceStatus.READY_TO_SYNC;
import static io.steelyard.domain.InvoiceStatus.SENDING;
import static io.steelyard.domain.InvoiceStatus.SYNCING;
import static io.steelyard.domain.InvoiceStatus.TEST;
import static io.steelyard.domain.InvoiceStatus.UNCOLLECTIBLE;
import static io.steelyard.domain.InvoiceStatus.VOID;

import java.util.EnumSet;
import java.util.Map;
import java.util.Set;

/** Which state of an invoice may follow which. The one place that says so. */
public final class InvoiceTransitions {
  private static final Map<InvoiceStatus, Set<InvoiceStatus>> NEXT =
      Map.ofEntries(
          row(DRAFT, PENDING, PAUSED, VOID),
          row(PENDING, PAID, ISSUED, TEST, READY_TO_SYNC, PAUSED, VOID),
          row(PAUSED, PENDING, VOID),
          row(READY_TO_SYNC, SYNCING, PAID, VOID, UNCOLLECTIBLE, PAUSED),
          row(SYNCING, READY_TO_SYNC, READY_TO_COLLECT, READY_TO_SEND, ISSUED, PAUSED),
          row(READY_TO_COLLECT, PENDING_PAYMENT, PAID, VOID, DELETED_FROM_PAYMENT_GATEWAY),
          row(PENDING_PAYMENT, PAID, PAYMENT_ACTION_REQUIRED, PAYMENT_FAILED, READY_TO_COLLECT),
          row(
              PAYMENT_ACTION_REQUIRED,
              PAID,
              PAYMENT_FAILED,
              VOID,
              UNCOLLECTIBLE,
              DELETED_FROM_PAYMENT_GATEWAY),
          row(
              PAYMENT_FAILED,
              READY_TO_COLLECT,
              PAID,
              OVERDUE,
              VOID,
              UNCOLLECTIBLE,
              DELETED_FROM_PAYMENT_GATEWAY),
          row(READY_TO_SEND, SENDING, PAID, VOID, DELETED_FROM_PAYMENT_GATEWAY),
          row(SENDING, ISSUED, READY_TO_SEND),
          row(ISSUED, SENDING, OVERDUE, PAID, VOID, UNCOLLECTIBLE, DELETED_FROM_PAYMENT_GATEWAY),
          row(OVERDUE, PAID, VOID, UNCOLLECTIBLE, DELETED_FROM_PAYMENT_GATEWAY),
          row(UNCOLLECTIBLE, PAID, VOID),
          row(DELETED_FROM_PAYMENT_GATEWAY, READY_TO_SYNC, VOID),
          row(TEST, PAID, VOID, UNCOLLECTIBLE),
          row(PAID),
          row(VOID));

  /** Only the gateway's answer, or its silence, leads on from these. */
  private static final Set<InvoiceStatus> IN_GATEWAYS_HANDS =
      EnumSet.of(SYNCING, PENDING_PAYMENT, SENDING);

  private InvoiceTransitions() {}

  private static Map.Entry<InvoiceStatus, Set<InvoiceStatus>> row(
      InvoiceStatus status, InvoiceStatus... next) {
    Set<InvoiceStatus> set = EnumSet.noneOf(InvoiceStatus.class);
    set.addAll(Set.of(next));
    return Map.entry(status, set);
  }

  public static boolean allows(InvoiceStatus from, InvoiceStatus to) {
    return NEXT.get(from).contains(to);
  }

  /** What may follow, in the order of the documented states; empty for an end. */
  public static Set<InvoiceStatus> from(InvoiceStatus status) {
    Set<InvoiceStatus> next = EnumSet.noneOf(InvoiceStatus.class);
    next.addAll(NEXT.get(status));
    return next;
  }

  /**
   * Whether an operator may have an invoice go on like this. What a pending one comes to may still
   * change, so that nobody can have paid it: only billing makes it final.
   */
  public static boolean allowsOperator(InvoiceStatus from, InvoiceStatus to) {
    return allows(from, to) && !inGatewaysHands(from) && (from != PENDING || to == VOID);
  }

  /** Whether a call to the gateway is under way, so that nobody else may change the invoice. */
  public static boolean inGatewaysHands(InvoiceStatus status) {
    return IN_GATEWAYS_HANDS.contains(status);
  }
}

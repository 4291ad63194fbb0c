package io.steelyard.domain;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.EnumSet;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** The tables of transitions, over all pairs of states. */
class TransitionsTest {
  private static final Set<InvoiceStatus> FINAL =
      EnumSet.of(
          InvoiceStatus.PAID,
          InvoiceStatus.ISSUED,
          InvoiceStatus.TEST,
          InvoiceStatus.READY_TO_SYNC);

  @Test
  void whatIsAllowedIsWhatIsListed() {
    for (InvoiceStatus from : InvoiceStatus.values()) {
      for (InvoiceStatus to : InvoiceStatus.values()) {
        assertThat(InvoiceTransitions.allows(from, to))
            .as("%s to %s", from, to)
            .isEqualTo(InvoiceTransitions.from(from).contains(to));
      }
    }
    for (SubscriptionStatus from : SubscriptionStatus.values()) {
      for (SubscriptionStatus to : SubscriptionStatus.values()) {
        assertThat(SubscriptionTransitions.allows(from, to))
            .as("%s to %s", from, to)
            .isEqualTo(SubscriptionTransitions.from(from).contains(to));
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void noStateFollowsItself(InvoiceStatus status) {
    assertThat(InvoiceTransitions.allows(status, status)).isFalse();
  }

  @Test
  void nothingIsTheStartAgainAndOnlyPaidAndVoidAreEnds() {
    for (InvoiceStatus status : InvoiceStatus.values()) {
      assertThat(InvoiceTransitions.from(status)).doesNotContain(InvoiceStatus.DRAFT);
      assertThat(InvoiceTransitions.from(status).isEmpty())
          .as("%s", status)
          .isEqualTo(status == InvoiceStatus.PAID || status == InvoiceStatus.VOID);
    }
  }

  @Test
  void everyStateIsReachedFromADraftAndReachesAnEnd() {
    assertThat(reachable(InvoiceStatus.DRAFT)).containsExactlyInAnyOrder(InvoiceStatus.values());
    for (InvoiceStatus status : InvoiceStatus.values()) {
      assertThat(reachable(status)).containsAnyOf(InvoiceStatus.PAID, InvoiceStatus.VOID);
    }
  }

  private static Set<InvoiceStatus> reachable(InvoiceStatus start) {
    Set<InvoiceStatus> seen = EnumSet.of(start);
    Deque<InvoiceStatus> left = new ArrayDeque<>(seen);
    while (!left.isEmpty()) {
      for (InvoiceStatus next : InvoiceTransitions.from(left.pop())) {
        if (seen.add(next)) {
          left.push(next);
        }
      }
    }
    return seen;
  }

  @ParameterizedTest
  @EnumSource
  void whatIsInTheGatewaysHandsIsNeitherVoidedNorWrittenOff(InvoiceStatus status) {
    if (InvoiceTransitions.inGatewaysHands(status)) {
      assertThat(InvoiceTransitions.from(status))
          .doesNotContain(InvoiceStatus.VOID, InvoiceStatus.UNCOLLECTIBLE);
    }
  }

  @Test
  void anOperatorDoesWhatTheTableAllowsButWhatIsTheGatewaysOrBillings() {
    for (InvoiceStatus from : InvoiceStatus.values()) {
      for (InvoiceStatus to : InvoiceStatus.values()) {
        boolean others =
            InvoiceTransitions.inGatewaysHands(from)
                || from == InvoiceStatus.PENDING && to != InvoiceStatus.VOID;
        assertThat(InvoiceTransitions.allowsOperator(from, to))
            .as("%s to %s", from, to)
            .isEqualTo(InvoiceTransitions.allows(from, to) && !others);
      }
    }
    assertThat(InvoiceTransitions.allowsOperator(InvoiceStatus.PENDING, InvoiceStatus.PAID))
        .isFalse();
  }

  @ParameterizedTest
  @EnumSource
  void anActionGoesFromReadyToUnderWayAndBackAndMayBeGivenUp(DeliveryAction action) {
    assertThat(InvoiceTransitions.allows(action.ready(), action.underWay())).isTrue();
    assertThat(InvoiceTransitions.allows(action.underWay(), action.ready())).isTrue();
    assertThat(InvoiceTransitions.allows(action.underWay(), action.givenUp())).isTrue();
    assertThat(InvoiceTransitions.inGatewaysHands(action.underWay())).isTrue();
    assertThat(InvoiceTransitions.inGatewaysHands(action.ready())).isFalse();
  }

  @ParameterizedTest
  @EnumSource
  void everyOutcomeOfAChargeLeadsOn(CollectionOutcome outcome) {
    assertThat(InvoiceTransitions.allows(InvoiceStatus.PENDING_PAYMENT, outcome.status())).isTrue();
  }

  @ParameterizedTest
  @CsvSource({
    "0, CARD_GATEWAY, LIVE", "10, CARD_GATEWAY, LIVE", "10, CARD_GATEWAY, TEST",
    "10, , LIVE", "10, , TEST", "0, , TEST",
  })
  void whatAnInvoiceBecomesFollowsPending(
      java.math.BigDecimal total, PaymentGateway gateway, Environment environment) {
    InvoiceStatus status = InvoiceDrafting.finalStatus(total, gateway, environment);

    assertThat(FINAL).contains(status);
    assertThat(InvoiceTransitions.allows(InvoiceStatus.PENDING, status)).isTrue();
  }

  @ParameterizedTest
  @CsvSource({
    "CARD_GATEWAY, false, false, ",
    "CARD_GATEWAY, true, false, SEND",
    "CARD_GATEWAY, false, true, COLLECT",
    "CARD_GATEWAY, true, true, COLLECT",
    "LEDGER_A, false, false, ",
    "LEDGER_A, true, false, SEND",
    "LEDGER_A, true, true, SEND",
    "LEDGER_B, false, true, ",
  })
  void theFlagsAndTheGatewaySayWhatFollowsTheSync(
      PaymentGateway gateway, boolean autoSend, boolean autoCharge, DeliveryAction next) {
    assertThat(DeliveryAction.afterSync(gateway, autoSend, autoCharge).orElse(null))
        .isEqualTo(next);
  }

  @Test
  void aSubscriptionEndsBeforeItIsDeletedAndNeverComesBack() {
    assertThat(SubscriptionTransitions.from(SubscriptionStatus.ACTIVE))
        .containsExactly(SubscriptionStatus.ENDED);
    assertThat(SubscriptionTransitions.from(SubscriptionStatus.ENDED))
        .containsExactly(SubscriptionStatus.DELETED);
    assertThat(SubscriptionTransitions.from(SubscriptionStatus.DELETED)).isEmpty();
  }
}

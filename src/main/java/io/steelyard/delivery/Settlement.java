package io.steelyard.delivery;

import io.steelyard.bus.Call;
import io.steelyard.config.Config;
import io.steelyard.domain.Actor;
import io.steelyard.domain.DeliveryAction;
import io.steelyard.domain.InvoiceStatus;
import io.steelyard.invoice.OutboxStore;
import io.steelyard.invoice.OutboxStore.Due;
import io.steelyard.invoice.TransitionStore;
import io.steelyard.invoice.TransitionStore.Cause;
import io.steelyard.invoice.TransitionStore.InvoiceChange;
import io.steelyard.merchant.MerchantClock;
import io.vertx.core.Future;
import io.vertx.sqlclient.SqlConnection;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;

/** Moves an invoice by what came of an attempt, within the caller's transaction. */
final class Settlement {
  private static final int REASON_CHARS_MAX = 500;
  private static final int DOUBLINGS_MAX = 30;

  private final MerchantClock clock;
  private final Config.Delivery config;
  private final OutboxStore outbox = new OutboxStore();
  private final TransitionStore transitions = new TransitionStore();

  Settlement(MerchantClock clock, Config.Delivery config) {
    this.clock = clock;
    this.config = config;
  }

  /** What becomes of the outbox's row. */
  private enum End {
    DONE,
    /** It waits for another attempt. */
    LATER,
    /** It waits for an operator. */
    GIVEN_UP
  }

  /**
   * @param path the states that the invoice takes one after the other
   * @param externalId null when it stays as it is
   * @param next what is to be done then by itself
   */
  private record Plan(
      List<InvoiceStatus> path,
      String reason,
      End end,
      String externalId,
      Optional<DeliveryAction> next) {
    static Plan of(End end, String reason, InvoiceStatus... path) {
      String brief =
          reason.length() > REASON_CHARS_MAX ? reason.substring(0, REASON_CHARS_MAX) : reason;
      return new Plan(List.of(path), brief, end, null, Optional.empty());
    }
  }

  /** False when the attempt is not the present one any more: then it has no effect. */
  Future<Boolean> settle(SqlConnection tx, Call call, Due due, Outcome outcome) {
    Plan plan = plan(due, outcome);
    UUID merchantId = call.merchantId();
    return outbox
        .lockInvoice(tx, merchantId, due.invoiceId())
        .compose(
            status ->
                end(tx, merchantId, due, plan)
                    .compose(
                        present ->
                            present && status.equals(Optional.of(due.action().underWay()))
                                ? clock
                                    .now(tx, call)
                                    .compose(now -> apply(tx, call, due, plan, now))
                                    .map(true)
                                : Future.succeededFuture(false)));
  }

  private Plan plan(Due due, Outcome outcome) {
    DeliveryAction action = due.action();
    return switch (outcome) {
      case Outcome.Synced synced -> synced(due, synced);
      case Outcome.Collected collected ->
          Plan.of(End.DONE, reason(collected), collected.outcome().status());
      case Outcome.PaidBefore paid ->
          Plan.of(End.DONE, "paid at the gateway before", InvoiceStatus.PAID);
      case Outcome.Sent sent -> Plan.of(End.DONE, "sent", InvoiceStatus.ISSUED);
      case Outcome.Lost lost -> lost(action);
      case Outcome.Refused refused ->
          Plan.of(refused.verdict() ? End.DONE : End.GIVEN_UP, refused.detail(), action.givenUp());
      case Outcome.Unanswered none -> unanswered(due, none);
    };
  }

  private static Plan lost(DeliveryAction action) {
    String reason = "the gateway knows it no more";
    return action == DeliveryAction.SYNC
        ? Plan.of(End.DONE, reason, action.givenUp())
        : Plan.of(End.DONE, reason, action.ready(), InvoiceStatus.DELETED_FROM_PAYMENT_GATEWAY);
  }

  private Plan unanswered(Due due, Outcome.Unanswered none) {
    DeliveryAction action = due.action();
    return due.attempts() < config.attemptsMax()
        ? Plan.of(End.LATER, none.error(), action.ready())
        : Plan.of(
            End.GIVEN_UP,
            "given up after %d attempts: %s".formatted(due.attempts(), none.error()),
            action.givenUp());
  }

  private static Plan synced(Due due, Outcome.Synced synced) {
    Optional<DeliveryAction> next =
        DeliveryAction.afterSync(due.gateway(), due.autoSend(), due.autoCharge());
    return new Plan(
        List.of(next.map(DeliveryAction::ready).orElse(InvoiceStatus.ISSUED)),
        "synced",
        End.DONE,
        synced.externalId(),
        next);
  }

  private static String reason(Outcome.Collected collected) {
    String what =
        switch (collected.outcome()) {
          case SUCCEEDED -> "charged";
          case ACTION_REQUIRED -> "the customer must act";
          case FAILED -> "the charge was declined";
        };
    return collected.detail() == null ? what : what + ": " + collected.detail();
  }

  private Future<Boolean> end(SqlConnection tx, UUID merchantId, Due due, Plan plan) {
    return switch (plan.end()) {
      case DONE -> outbox.done(tx, merchantId, due);
      case LATER ->
          outbox.later(
              tx,
              merchantId,
              due,
              clock.systemNow().plusMillis(backoffMs(due.attempts())),
              plan.reason());
      case GIVEN_UP -> outbox.later(tx, merchantId, due, null, plan.reason());
    };
  }

  /** Doubles with each attempt; the upper half is random, so that retries drift apart. */
  private long backoffMs(int attempts) {
    long full =
        Math.min(
            config.backoffMaxMs(),
            (long) config.backoffMs() << Math.min(attempts - 1, DOUBLINGS_MAX));
    return full - ThreadLocalRandom.current().nextLong(full / 2 + 1);
  }

  private Future<Void> apply(SqlConnection tx, Call call, Due due, Plan plan, Instant now) {
    UUID merchantId = call.merchantId();
    Cause cause = new Cause(Actor.GATEWAY, plan.reason(), call.requestId(), clock.systemNow());
    Future<?> moved =
        plan.externalId() == null
            ? Future.succeededFuture()
            : outbox.setExternalId(tx, merchantId, due.invoiceId(), plan.externalId());
    InvoiceStatus from = due.action().underWay();
    for (InvoiceStatus to : plan.path()) {
      InvoiceChange change = new InvoiceChange(due.invoiceId(), from, to, now);
      moved =
          moved.compose(before -> transitions.moveInvoices(tx, merchantId, List.of(change), cause));
      from = to;
    }
    return moved.compose(
        done ->
            outbox.enqueue(
                tx,
                merchantId,
                plan.next().stream()
                    .map(action -> new OutboxStore.Entry(due.invoiceId(), action))
                    .toList(),
                clock.systemNow()));
  }
}

package io.steelyard.gateway;

import io.steelyard.bus.Call;
import io.steelyard.bus.Failure;
import io.steelyard.bus.FailureException;
import io.steelyard.db.Ids;
import io.steelyard.db.Transactions;
import io.steelyard.domain.CollectionOutcome;
import io.steelyard.domain.PaymentGateway;
import io.steelyard.domain.WireName;
import io.steelyard.gateway.GatewayMessages.Collected;
import io.steelyard.gateway.GatewayMessages.Document;
import io.steelyard.gateway.GatewayMessages.DocumentFound;
import io.steelyard.gateway.GatewayMessages.DocumentState;
import io.steelyard.gateway.GatewayMessages.SandboxBehaviorView;
import io.steelyard.gateway.GatewayMessages.Sent;
import io.steelyard.gateway.GatewayMessages.Synced;
import io.steelyard.gateway.SandboxInvoiceStore.Received;
import io.steelyard.merchant.MerchantClock;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.SqlConnection;
import java.time.Instant;
import java.util.function.Function;

/**
 * A gateway for invoices inside this process: it charges nobody, remembers what it was asked, and
 * behaves as a test has told it to. Asked under a new key it charges an invoice again, as a gateway
 * might that trusts its callers.
 */
final class SandboxInvoiceGateway implements InvoiceGateway {
  private static final String REFUSED = "refused";
  private static final int RETRY_AFTER_S = 5;

  private final Setting setting;
  private final PaymentGateway gateway;
  private final Call call;
  private final SandboxInvoiceStore store;

  /**
   * What all calls share.
   *
   * @param silenceMs how long one waits for an answer that never comes
   */
  record Setting(Vertx vertx, Pool pool, MerchantClock clock, long silenceMs) {}

  private interface Effect {
    Future<Void> on(SqlConnection tx, Received received);
  }

  SandboxInvoiceGateway(Setting setting, PaymentGateway gateway, Call call) {
    this.setting = setting;
    this.gateway = gateway;
    this.call = call;
    this.store = new SandboxInvoiceStore(call.merchantId(), gateway);
  }

  @Override
  public Future<Synced> sync(Document document, String customer, String idempotencyKey) {
    String made =
        "sbx_in_"
            + Ids.operation("sbx_in_" + call.merchantId() + "/" + idempotencyKey)
                .toString()
                .replace("-", "");
    return act(
        SandboxBehaviorView::sync,
        behavior -> behavior == SandboxBehavior.DECLINE ? REFUSED : "synced",
        idempotencyKey,
        made,
        (tx, received) ->
            store.insert(tx, made, document.invoiceId().uuid(), document.total(), now()),
        (received, behavior) ->
            new Synced(received.externalId(), behavior == SandboxBehavior.DUPLICATE));
  }

  @Override
  public Future<DocumentFound> find(String externalId) {
    return behavior(SandboxBehaviorView::collect)
        .compose(
            behavior ->
                behavior == SandboxBehavior.UNAVAILABLE
                    ? unavailable()
                    : store.status(setting.pool(), externalId))
        .map(
            status ->
                new DocumentFound(
                    status
                        .map(
                            known ->
                                switch (known) {
                                  case "paid" -> DocumentState.PAID;
                                  case "deleted" -> DocumentState.DELETED;
                                  default -> DocumentState.OPEN;
                                })
                        .orElse(DocumentState.DELETED)));
  }

  @Override
  public Future<Collected> collect(String externalId, String idempotencyKey) {
    return mustExist(externalId)
        .compose(
            known ->
                act(
                    SandboxBehaviorView::collect,
                    behavior -> outcome(behavior).wire(),
                    idempotencyKey,
                    externalId,
                    this::charge,
                    (received, behavior) ->
                        new Collected(
                            WireName.parse(CollectionOutcome.class, received.outcome()),
                            null,
                            behavior == SandboxBehavior.DUPLICATE)));
  }

  private static CollectionOutcome outcome(SandboxBehavior behavior) {
    return switch (behavior) {
      case DECLINE -> CollectionOutcome.FAILED;
      case REQUIRE_ACTION -> CollectionOutcome.ACTION_REQUIRED;
      case SUCCEED, TIMEOUT, UNAVAILABLE, DUPLICATE -> CollectionOutcome.SUCCEEDED;
    };
  }

  private Future<Void> charge(SqlConnection tx, Received received) {
    return switch (WireName.parse(CollectionOutcome.class, received.outcome())) {
      case SUCCEEDED -> store.change(tx, received.externalId(), "paid", 1, 0);
      case ACTION_REQUIRED -> store.change(tx, received.externalId(), "actionRequired", 0, 0);
      case FAILED -> Future.succeededFuture();
    };
  }

  @Override
  public Future<Sent> send(String externalId, String idempotencyKey) {
    return mustExist(externalId)
        .compose(
            known ->
                act(
                    SandboxBehaviorView::send,
                    behavior -> behavior == SandboxBehavior.DECLINE ? REFUSED : "sent",
                    idempotencyKey,
                    externalId,
                    (tx, received) -> store.change(tx, externalId, null, 0, 1),
                    (received, behavior) -> new Sent(behavior == SandboxBehavior.DUPLICATE)));
  }

  private interface Reading<T> {
    T of(Received received, SandboxBehavior behavior);
  }

  /** Has the effect once per key, in one transaction, and answers as the behaviour says. */
  private <T> Future<T> act(
      Function<SandboxBehaviorView, SandboxBehavior> which,
      Function<SandboxBehavior, String> outcome,
      String idempotencyKey,
      String externalId,
      Effect effect,
      Reading<T> reading) {
    return behavior(which)
        .compose(
            behavior ->
                behavior == SandboxBehavior.UNAVAILABLE
                    ? unavailable()
                    : Transactions.run(
                            setting.pool(),
                            tx ->
                                receive(
                                    tx,
                                    idempotencyKey,
                                    externalId,
                                    outcome.apply(behavior),
                                    effect))
                        .compose(received -> answer(received, behavior, reading)));
  }

  private Future<Received> receive(
      SqlConnection tx, String idempotencyKey, String externalId, String outcome, Effect effect) {
    return store
        .receive(tx, idempotencyKey, externalId, outcome, now())
        .compose(
            received ->
                received.first() && !REFUSED.equals(received.outcome())
                    ? effect.on(tx, received).map(received)
                    : Future.succeededFuture(received));
  }

  private <T> Future<T> answer(Received received, SandboxBehavior behavior, Reading<T> reading) {
    if (behavior == SandboxBehavior.TIMEOUT) {
      long silenceMs = Math.min(setting.silenceMs(), call.remainingMs());
      return setting.vertx().timer(silenceMs).compose(passed -> unavailable());
    }
    return REFUSED.equals(received.outcome())
        ? FailureException.failed(
            new Failure.Rejected("gateway_refused", gateway.wire() + " refused: as it was told."))
        : Future.succeededFuture(reading.of(received, behavior));
  }

  private Future<Void> mustExist(String externalId) {
    return store
        .status(setting.pool(), externalId)
        .compose(
            status ->
                status.filter(known -> !known.equals("deleted")).isPresent()
                    ? Future.succeededFuture()
                    : FailureException.failed(Failure.notFound("document")));
  }

  private Future<SandboxBehavior> behavior(Function<SandboxBehaviorView, SandboxBehavior> which) {
    return store.behavior(setting.pool()).map(which);
  }

  private Instant now() {
    return setting.clock().systemNow();
  }

  private static <T> Future<T> unavailable() {
    return FailureException.failed(
        new Failure.Unavailable(
            "gateway_unavailable", "The sandbox gives no usable answer.", RETRY_AFTER_S));
  }
}

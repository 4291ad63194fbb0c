package io.steelyard.gateway;

import io.steelyard.bus.Call;
import io.steelyard.bus.Failure;
import io.steelyard.bus.FailureException;
import io.steelyard.db.Ids;
import io.steelyard.gateway.GatewayMessages.CheckoutSession;
import io.steelyard.merchant.MerchantClock;
import io.vertx.core.Future;
import io.vertx.sqlclient.Pool;
import java.time.Instant;
import java.util.Map;
import java.util.function.Supplier;

/**
 * A card gateway inside this process, for trying things out: it charges nobody, its ids follow from
 * the idempotency key, and its time is the merchant's.
 */
final class SandboxGateway implements CardGateway {
  private static final String OPEN = "open";
  private static final String EXPIRED = "expired";

  private final Setting setting;
  private final Call call;

  /**
   * What all calls share.
   *
   * @param publicBaseUrl under which this service's own pages are reached; asked on each use, since
   *     the port may be known only after the start
   * @param checkoutTtlMs how long a session stays open
   */
  record Setting(
      Pool pool, MerchantClock clock, Supplier<String> publicBaseUrl, long checkoutTtlMs) {}

  SandboxGateway(Setting setting, Call call) {
    this.setting = setting;
    this.call = call;
  }

  @Override
  public Future<String> createCustomer(CustomerDetails details, String idempotencyKey) {
    return Future.succeededFuture(derived("sbx_cus_", idempotencyKey));
  }

  @Override
  public Future<CheckoutSession> createSetupSession(SetupRequest request, String idempotencyKey) {
    return setting
        .clock()
        .now(setting.pool(), call)
        .compose(
            now ->
                SandboxStore.open(
                        setting.pool(), call.merchantId(), session(request, idempotencyKey, now))
                    .map(stored -> view(stored, now)));
  }

  /** Does what the customer would do on the page. */
  Future<CheckoutSession> complete(String sessionId) {
    return setting
        .clock()
        .now(setting.pool(), call)
        .compose(
            now ->
                SandboxStore.complete(setting.pool(), call.merchantId(), sessionId, now)
                    .compose(
                        done ->
                            done.map(session -> Future.succeededFuture(view(session, now)))
                                .orElseGet(() -> refused(sessionId))));
  }

  /** The session as it stands now. */
  Future<CheckoutSession> find(String sessionId) {
    return setting
        .clock()
        .now(setting.pool(), call)
        .compose(
            now ->
                SandboxStore.find(setting.pool(), call.merchantId(), sessionId)
                    .compose(
                        found ->
                            found
                                .map(session -> Future.succeededFuture(view(session, now)))
                                .orElseGet(
                                    () ->
                                        FailureException.failed(
                                            Failure.notFound("checkout_session")))));
  }

  private Future<CheckoutSession> refused(String sessionId) {
    return SandboxStore.find(setting.pool(), call.merchantId(), sessionId)
        .compose(
            session ->
                FailureException.failed(
                    session.isEmpty()
                        ? Failure.notFound("checkout_session")
                        : new Failure.Conflict(
                            "session_not_open", "The checkout session is complete or expired.")));
  }

  private SandboxStore.Session session(SetupRequest request, String idempotencyKey, Instant now) {
    return new SandboxStore.Session(
        derived("sbx_cs_", idempotencyKey),
        request.customer(),
        derived("sbx_seti_", idempotencyKey),
        request.successUrl(),
        Map.of("customerId", request.customerId().toString()),
        OPEN,
        now,
        now.plusMillis(setting.checkoutTtlMs()));
  }

  private String derived(String prefix, String idempotencyKey) {
    String cause = prefix + call.merchantId() + "/" + idempotencyKey;
    return prefix + Ids.operation(cause).toString().replace("-", "");
  }

  private CheckoutSession view(SandboxStore.Session session, Instant now) {
    boolean lapsed = OPEN.equals(session.status()) && !session.expiresAt().isAfter(now);
    return new CheckoutSession(
        session.id(),
        "checkout.session",
        pageOf(session.id()),
        lapsed ? EXPIRED : session.status(),
        "setup",
        session.customer(),
        session.successUrl(),
        session.setupIntent(),
        "no_payment_required",
        session.createdAt().getEpochSecond(),
        session.expiresAt().getEpochSecond(),
        false,
        "usd",
        session.metadata());
  }

  private String pageOf(String sessionId) {
    String base = setting.publicBaseUrl().get();
    String trimmed = base.endsWith("/") ? base.substring(0, base.length() - 1) : base;
    return trimmed + "/sandbox/checkout/" + call.merchant().id() + "/" + sessionId;
  }
}

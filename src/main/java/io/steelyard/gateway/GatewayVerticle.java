package io.steelyard.gateway;

import io.steelyard.bus.Address;
import io.steelyard.bus.Bus;
import io.steelyard.bus.Call;
import io.steelyard.bus.Failure;
import io.steelyard.bus.Failure.Fault;
import io.steelyard.bus.FailureException;
import io.steelyard.bus.Reply;
import io.steelyard.config.Config;
import io.steelyard.customer.CustomerMessages;
import io.steelyard.customer.CustomerMessages.CustomerView;
import io.steelyard.db.Idempotency;
import io.steelyard.db.Pools;
import io.steelyard.db.SecretBox;
import io.steelyard.db.StoreVerticle;
import io.steelyard.domain.PaymentGateway;
import io.steelyard.gateway.CardGateway.SetupRequest;
import io.steelyard.gateway.GatewayMessages.CheckoutSession;
import io.steelyard.gateway.GatewayMessages.CollectDocument;
import io.steelyard.gateway.GatewayMessages.CompleteSandboxPayment;
import io.steelyard.gateway.GatewayMessages.CompleteSandboxSession;
import io.steelyard.gateway.GatewayMessages.ConnectGateway;
import io.steelyard.gateway.GatewayMessages.ConnectionView;
import io.steelyard.gateway.GatewayMessages.CreateSetupSession;
import io.steelyard.gateway.GatewayMessages.DisconnectGateway;
import io.steelyard.gateway.GatewayMessages.Disconnected;
import io.steelyard.gateway.GatewayMessages.FindDocument;
import io.steelyard.gateway.GatewayMessages.GetSandboxSession;
import io.steelyard.gateway.GatewayMessages.SendDocument;
import io.steelyard.gateway.GatewayMessages.SetSandboxBehavior;
import io.steelyard.gateway.GatewayMessages.SyncDocument;
import io.steelyard.gateway.GatewayStore.Connection;
import io.steelyard.merchant.MerchantClock;
import io.vertx.core.Future;
import java.util.List;
import java.util.UUID;
import java.util.function.Supplier;

/** Answers {@link GatewayMessages}. No call to a gateway runs within a database transaction. */
public final class GatewayVerticle extends StoreVerticle<GatewayMessages<?>> {
  private final Settings settings;
  private final Config config;
  private final MerchantClock clock;
  private final Bus bus;
  private final SecretBox secretBox;
  private final Supplier<String> publicBaseUrl;
  private final Idempotency idempotency;
  private GatewayHttp http;
  private SandboxGateway.Setting sandbox;
  private Connections connections;
  private Documents documents;

  /**
   * @param publicBaseUrl under which the sandbox's checkout pages are reached
   */
  public GatewayVerticle(
      Settings settings,
      Config config,
      Pools pools,
      MerchantClock clock,
      Bus bus,
      SecretBox secretBox,
      Supplier<String> publicBaseUrl,
      Idempotency idempotency) {
    super(Address.GATEWAY, settings, pools);
    this.settings = settings;
    this.config = config;
    this.clock = clock;
    this.bus = bus;
    this.secretBox = secretBox;
    this.publicBaseUrl = publicBaseUrl;
    this.idempotency = idempotency;
  }

  @Override
  protected Future<?> open() {
    Future<?> opened = super.open();
    http = new GatewayHttp(vertx, config.gateway(), settings.metrics());
    sandbox =
        new SandboxGateway.Setting(pool, clock, publicBaseUrl, config.gateway().checkoutTtlMs());
    connections = new Connections(pool, secretBox);
    documents =
        new Documents(
            pool,
            bus,
            connections,
            http,
            sandbox,
            new SandboxInvoiceGateway.Setting(
                vertx, pool, clock, config.gateway().callTimeoutMs()));
    return opened;
  }

  @Override
  protected Future<?> close() {
    return http.close().eventually(super::close);
  }

  @Override
  protected Future<? extends Reply> handle(GatewayMessages<?> message, Call call) {
    return switch (message) {
      case ConnectGateway connect -> connect(connect, call);
      case DisconnectGateway disconnect -> disconnect(disconnect, call);
      case CreateSetupSession create -> createSetupSession(create, call);
      case GetSandboxSession get -> new SandboxGateway(sandbox, call).find(get.sessionId());
      case CompleteSandboxSession complete ->
          new SandboxGateway(sandbox, call).complete(complete.sessionId());
      case SyncDocument sync -> documents.sync(sync, call);
      case FindDocument find -> documents.find(find, call);
      case CollectDocument collect -> documents.collect(collect, call);
      case SendDocument send -> documents.send(send, call);
      case SetSandboxBehavior set -> documents.behave(set, call);
      case CompleteSandboxPayment complete -> documents.complete(complete, call);
    };
  }

  private Future<ConnectionView> connect(ConnectGateway message, Call call) {
    List<Fault> faults = ConnectionTerms.faults(message);
    if (!faults.isEmpty()) {
      return FailureException.failed(new Failure.Invalid(faults));
    }
    boolean isHttp = ConnectionTerms.HTTP.equals(message.kind());
    if (isHttp && !secretBox.hasKey()) {
      return FailureException.failed(
          new Failure.Rejected(
              "encryption_key_missing",
              "A gateway's secret can be stored only with security.encryptionKey configured."));
    }
    Connection connection =
        isHttp ? sealed(message, call.merchantId()) : new Connection(message.kind(), null, null);
    return clock
        .now(pool, call)
        .compose(
            now ->
                GatewayStore.connect(pool, call.merchantId(), message.gateway(), connection, now));
  }

  private Connection sealed(ConnectGateway message, UUID merchantId) {
    return new Connection(
        message.kind(),
        WebAddress.asBase(message.baseUrl()).orElseThrow(),
        secretBox.seal(merchantId, message.gateway().wire(), message.secret()));
  }

  private Future<Disconnected> disconnect(DisconnectGateway message, Call call) {
    return GatewayStore.disconnect(pool, call.merchantId(), message.gateway())
        .compose(
            removed ->
                removed
                    ? Future.succeededFuture(new Disconnected(message.gateway()))
                    : FailureException.failed(Failure.notFound("gateway_connection")));
  }

  private Future<? extends Reply> createSetupSession(CreateSetupSession message, Call call) {
    if (message.successUrl() == null) {
      return FailureException.failed(Failure.invalid("/successUrl", "required", "is required"));
    }
    if (!WebAddress.isSuccessUrl(message.successUrl())) {
      return FailureException.failed(
          Failure.invalid("/successUrl", "format", "must be an absolute http or https URL"));
    }
    return idempotency.asked(pool, call, attempt -> openSetupSession(message, attempt, call));
  }

  private Future<CheckoutSession> openSetupSession(
      CreateSetupSession message, UUID attempt, Call call) {
    return bus.ask(new CustomerMessages.GetCustomerByExternalId(message.externalCustomerId()), call)
        .compose(
            customer ->
                cardGateway(call)
                    .compose(gateway -> setupSession(gateway, customer, message, attempt, call)));
  }

  private Future<CardGateway> cardGateway(Call call) {
    return connections
        .to(PaymentGateway.CARD_GATEWAY, call)
        .map(way -> documents.cardGateway(way, call));
  }

  private Future<CheckoutSession> setupSession(
      CardGateway gateway,
      CustomerView customer,
      CreateSetupSession message,
      UUID attempt,
      Call call) {
    return documents
        .cardCustomer(
            gateway,
            customer,
            message.email() == null ? customer.email() : message.email(),
            message.name() == null ? customer.name() : message.name(),
            call)
        .compose(
            gatewayCustomer ->
                gateway.createSetupSession(
                    new SetupRequest(customer.id(), gatewayCustomer, message.successUrl()),
                    "setup:" + attempt));
  }
}

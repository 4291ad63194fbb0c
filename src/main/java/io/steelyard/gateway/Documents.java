package io.steelyard.gateway;

import io.steelyard.bus.Bus;
import io.steelyard.bus.Call;
import io.steelyard.bus.Failure;
import io.steelyard.bus.FailureException;
import io.steelyard.customer.CustomerMessages;
import io.steelyard.customer.CustomerMessages.CustomerView;
import io.steelyard.delivery.DeliveryMessages.ReportPayment;
import io.steelyard.domain.CollectionOutcome;
import io.steelyard.domain.Id;
import io.steelyard.domain.IdKind;
import io.steelyard.domain.PaymentGateway;
import io.steelyard.gateway.CardGateway.CustomerDetails;
import io.steelyard.gateway.GatewayMessages.CollectDocument;
import io.steelyard.gateway.GatewayMessages.Collected;
import io.steelyard.gateway.GatewayMessages.CompleteSandboxPayment;
import io.steelyard.gateway.GatewayMessages.DocumentFound;
import io.steelyard.gateway.GatewayMessages.FindDocument;
import io.steelyard.gateway.GatewayMessages.SandboxBehaviorView;
import io.steelyard.gateway.GatewayMessages.SandboxPaymentCompleted;
import io.steelyard.gateway.GatewayMessages.SendDocument;
import io.steelyard.gateway.GatewayMessages.Sent;
import io.steelyard.gateway.GatewayMessages.SetSandboxBehavior;
import io.steelyard.gateway.GatewayMessages.SyncDocument;
import io.steelyard.gateway.GatewayMessages.Synced;
import io.vertx.core.Future;
import io.vertx.sqlclient.Pool;
import java.util.Optional;

/** A merchant's invoices at its gateways. */
final class Documents {
  private final Pool pool;
  private final Bus bus;
  private final Connections connections;
  private final GatewayHttp http;
  private final SandboxGateway.Setting cards;
  private final SandboxInvoiceGateway.Setting sandbox;

  Documents(
      Pool pool,
      Bus bus,
      Connections connections,
      GatewayHttp http,
      SandboxGateway.Setting cards,
      SandboxInvoiceGateway.Setting sandbox) {
    this.pool = pool;
    this.bus = bus;
    this.connections = connections;
    this.http = http;
    this.cards = cards;
    this.sandbox = sandbox;
  }

  Future<Synced> sync(SyncDocument message, Call call) {
    return connections
        .to(message.gateway(), call)
        .compose(
            way ->
                customer(way, message, call)
                    .compose(
                        customer ->
                            gateway(way, message.gateway(), call)
                                .sync(
                                    message.document(),
                                    customer.orElse(null),
                                    message.idempotencyKey())));
  }

  Future<DocumentFound> find(FindDocument message, Call call) {
    return reach(message.gateway(), call).compose(gateway -> gateway.find(message.externalId()));
  }

  Future<Collected> collect(CollectDocument message, Call call) {
    return reach(message.gateway(), call)
        .compose(gateway -> gateway.collect(message.externalId(), message.idempotencyKey()));
  }

  Future<Sent> send(SendDocument message, Call call) {
    return reach(message.gateway(), call)
        .compose(gateway -> gateway.send(message.externalId(), message.idempotencyKey()));
  }

  private Future<InvoiceGateway> reach(PaymentGateway gateway, Call call) {
    return connections.to(gateway, call).map(way -> gateway(way, gateway, call));
  }

  private InvoiceGateway gateway(Connections.Way way, PaymentGateway gateway, Call call) {
    return way.sandbox()
        ? new SandboxInvoiceGateway(sandbox, gateway, call)
        : new HttpInvoiceGateway(http, gateway, way.account(), call);
  }

  CardGateway cardGateway(Connections.Way way, Call call) {
    return way.sandbox()
        ? new SandboxGateway(cards, call)
        : new HttpGateway(http, way.account(), call);
  }

  /** A card gateway wants to know whom it charges; a ledger may know the customer already. */
  private Future<Optional<String>> customer(Connections.Way way, SyncDocument message, Call call) {
    String id = message.document().customerId().toString();
    return bus.ask(new CustomerMessages.GetCustomer(id), call)
        .compose(
            customer ->
                switch (message.gateway()) {
                  case CARD_GATEWAY ->
                      cardCustomer(
                              cardGateway(way, call),
                              customer,
                              customer.email(),
                              customer.name(),
                              call)
                          .map(Optional::of);
                  case LEDGER_A ->
                      Future.succeededFuture(Optional.ofNullable(customer.ledgerAId()));
                  case LEDGER_B -> Future.succeededFuture(Optional.empty());
                });
  }

  /** The customer's id at the card gateway, where it is made known on first need. */
  Future<String> cardCustomer(
      CardGateway gateway, CustomerView customer, String email, String name, Call call) {
    if (customer.cardGatewayId() != null) {
      return Future.succeededFuture(customer.cardGatewayId());
    }
    return gateway
        .createCustomer(
            new CustomerDetails(customer.id(), email, name), "customer:" + customer.id())
        .compose(made -> bus.ask(new CustomerMessages.LinkCardGateway(customer.id(), made), call))
        .map(CustomerView::cardGatewayId);
  }

  Future<SandboxBehaviorView> behave(SetSandboxBehavior message, Call call) {
    SandboxBehaviorView behavior =
        new SandboxBehaviorView(
            message.gateway(), message.sync(), message.collect(), message.send());
    return GatewayStore.find(pool, call.merchantId(), message.gateway())
        .compose(
            connection -> {
              if (connection.isEmpty()) {
                return FailureException.failed(Failure.notFound("gateway_connection"));
              }
              if (!ConnectionTerms.SANDBOX.equals(connection.get().kind())) {
                return FailureException.failed(
                    new Failure.Conflict("not_a_sandbox", "The gateway is not a sandbox."));
              }
              return new SandboxInvoiceStore(call.merchantId(), message.gateway())
                  .behave(pool, behavior)
                  .map(behavior);
            });
  }

  /** The gateway takes note first, as it would; what it then reports may be reported again. */
  Future<SandboxPaymentCompleted> complete(CompleteSandboxPayment message, Call call) {
    Optional<Id> invoice = Id.parse(IdKind.INVOICE, message.invoiceId());
    if (invoice.isEmpty()) {
      return FailureException.failed(Failure.notFound("invoice"));
    }
    String status = message.outcome() == CollectionOutcome.SUCCEEDED ? "paid" : "open";
    return SandboxInvoiceStore.complete(pool, call.merchantId(), invoice.get().uuid(), status)
        .compose(
            completed ->
                completed
                    ? bus.ask(new ReportPayment(invoice.get(), message.outcome()), call)
                    : FailureException.failed(
                        new Failure.Conflict(
                            "no_action_required",
                            "The sandbox waits for nothing that the customer should do.")))
        .map(reported -> new SandboxPaymentCompleted(invoice.get()));
  }
}

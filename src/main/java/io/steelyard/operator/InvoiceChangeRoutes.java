package io.steelyard.operator;

import io.steelyard.billing.BillingMessages.ResumeSubscription;
import io.steelyard.bus.Bus;
import io.steelyard.bus.Request;
import io.steelyard.config.Config;
import io.steelyard.domain.CollectionOutcome;
import io.steelyard.domain.WireName;
import io.steelyard.gateway.GatewayMessages.CompleteSandboxPayment;
import io.steelyard.invoice.InvoiceMessages.GetInvoice;
import io.steelyard.invoice.InvoiceMessages.InvoiceView;
import io.steelyard.invoice.InvoiceMessages.RecordPayment;
import io.steelyard.invoice.InvoiceMessages.RequestCollection;
import io.steelyard.invoice.InvoiceMessages.RequestRebill;
import io.steelyard.invoice.InvoiceMessages.RequestSending;
import io.steelyard.invoice.InvoiceMessages.RequestSync;
import io.steelyard.invoice.InvoiceMessages.VoidInvoice;
import io.steelyard.invoice.InvoiceMessages.WriteOff;
import io.steelyard.json.Validator;
import io.steelyard.web.Answer;
import io.steelyard.web.Bodies;
import io.steelyard.web.Endpoint;
import io.steelyard.web.Exchange;
import io.vertx.core.Future;
import java.util.List;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.function.Function;

/** What an operator may have done with an invoice; each answers the invoice as it is then. */
final class InvoiceChangeRoutes {
  private static final String INVOICE = "/operator/merchants/{id}/invoices/{invoiceId}";
  private static final String REASON = "InvoiceChange";

  private final Bus bus;
  private final Validator schemas;
  private final MerchantScope scope;
  private final Config.Timeouts timeouts;

  InvoiceChangeRoutes(Bus bus, Validator schemas, MerchantScope scope, Config.Timeouts timeouts) {
    this.bus = bus;
    this.schemas = schemas;
    this.scope = scope;
    this.timeouts = timeouts;
  }

  private interface Change extends BiFunction<String, Map<String, Object>, Request<InvoiceView>> {}

  List<Endpoint> endpoints() {
    return List.of(
        change(
            "/pay",
            "PaymentRecord",
            (id, body) -> new RecordPayment(id, Bodies.text(body, "reference"))),
        change("/void", REASON, (id, body) -> new VoidInvoice(id, Bodies.text(body, "reason"))),
        change(
            "/uncollectible", REASON, (id, body) -> new WriteOff(id, Bodies.text(body, "reason"))),
        request("/sync", RequestSync::new),
        request("/send", RequestSending::new),
        request("/collect", RequestCollection::new),
        Endpoint.post(
                "/operator/merchants/{id}/subscriptions/{subscriptionId}/resume", this::resume)
            .reading(Endpoint.Body.NONE)
            .within(timeouts.clockMs()),
        Endpoint.post(
            "/operator/merchants/{id}/subscriptions/{subscriptionId}/rebill", this::rebill),
        Endpoint.post(INVOICE + "/sandbox-payment", this::completePayment));
  }

  private Endpoint change(String path, String schema, Change change) {
    return Endpoint.post(
            INVOICE + path,
            exchange -> {
              exchange.query().check();
              Bodies.check(schemas.check(schema, exchange.tree()));
              return ask(
                  exchange,
                  change.apply(exchange.path("invoiceId"), Bodies.object(exchange.tree())));
            })
        .reading(Endpoint.Body.OPTIONAL_JSON)
        .takingKey();
  }

  private Endpoint request(String path, Function<String, Request<InvoiceView>> request) {
    return Endpoint.post(
            INVOICE + path,
            exchange -> {
              exchange.query().check();
              return ask(exchange, request.apply(exchange.path("invoiceId")));
            })
        .reading(Endpoint.Body.NONE);
  }

  private Future<Answer> ask(Exchange exchange, Request<InvoiceView> request) {
    return scope
        .of(exchange)
        .compose(call -> bus.askOnce(request, call))
        .map(reply -> Answer.once(200, reply));
  }

  private Future<Answer> resume(Exchange exchange) {
    exchange.query().check();
    ResumeSubscription resume = new ResumeSubscription(exchange.path("subscriptionId"));
    return scope.of(exchange).compose(call -> bus.ask(resume, call)).map(Answer::ok);
  }

  private Future<Answer> rebill(Exchange exchange) {
    exchange.query().check();
    Bodies.check(schemas.check("PeriodOfSubscription", exchange.tree()));
    int period = Bodies.number(Bodies.object(exchange.tree()), "period").intValueExact();
    RequestRebill rebill = new RequestRebill(exchange.path("subscriptionId"), period);
    return scope.of(exchange).compose(call -> bus.ask(rebill, call)).map(Answer::ok);
  }

  private Future<Answer> completePayment(Exchange exchange) {
    exchange.query().check();
    Bodies.check(schemas.check("SandboxPayment", exchange.tree()));
    String id = exchange.path("invoiceId");
    CollectionOutcome outcome =
        WireName.parse(
            CollectionOutcome.class, Bodies.text(Bodies.object(exchange.tree()), "outcome"));
    return scope
        .of(exchange)
        .compose(
            call ->
                bus.ask(new GetInvoice(id), call) // the sandbox cannot tell what is nobody's
                    .compose(known -> bus.ask(new CompleteSandboxPayment(id, outcome), call))
                    .compose(done -> bus.ask(new GetInvoice(id), call)))
        .map(Answer::ok);
  }
}

package io.steelyard.http;

import io.steelyard.bus.Bus;
import io.steelyard.bus.Call;
import io.steelyard.bus.Reply;
import io.steelyard.bus.Request;
import io.steelyard.config.Config;
import io.steelyard.gateway.GatewayMessages.CheckoutSession;
import io.steelyard.gateway.GatewayMessages.CompleteSandboxSession;
import io.steelyard.gateway.GatewayMessages.GetSandboxSession;
import io.steelyard.merchant.MerchantMessages.FindMerchant;
import io.steelyard.web.Api;
import io.steelyard.web.Problems;
import io.vertx.core.Future;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;

/**
 * The page that the sandbox gateway's sessions point at, in the place of a card gateway's own.
 * Needs no key: as with a real gateway, knowing the session's address is what lets a browser in.
 */
final class SandboxRoutes {
  private static final String PAGE = "/sandbox/checkout/:merchantId/:sessionId";
  private static final String HTML =
      """
      <!doctype html>
      <html lang="en">
      <head><meta charset="utf-8"><title>Sandbox checkout</title></head>
      <body>
      <h1>Sandbox checkout</h1>
      <p>No card is asked for and none is charged. This session is <strong>%s</strong>.</p>
      %s
      </body>
      </html>
      """;
  private static final String BUTTON =
      "<form method=\"post\"><button type=\"submit\">Save the test card</button></form>";

  private final Bus bus;
  private final Config config;

  SandboxRoutes(Bus bus, Config config) {
    this.bus = bus;
    this.config = config;
  }

  void mount(Router router) {
    router.get(PAGE).handler(this::show);
    router.post(PAGE).handler(this::complete);
  }

  private void show(RoutingContext routing) {
    ask(routing, new GetSandboxSession(routing.pathParam("sessionId")))
        .onSuccess(
            session ->
                routing
                    .response()
                    .putHeader("content-type", "text/html; charset=utf-8")
                    .putHeader("content-security-policy", "default-src 'none'")
                    .putHeader("cache-control", "no-store")
                    .end(
                        HTML.formatted(
                            session.status(), session.status().equals("open") ? BUTTON : "")))
        .onFailure(error -> refuse(routing, error));
  }

  private void complete(RoutingContext routing) {
    ask(routing, new CompleteSandboxSession(routing.pathParam("sessionId")))
        .onSuccess(
            session ->
                routing
                    .response()
                    .setStatusCode(303)
                    .putHeader("location", returnAddress(session))
                    .end())
        .onFailure(error -> refuse(routing, error));
  }

  /** As the card gateway does, fills the session's id in where the merchant asked for it. */
  private static String returnAddress(CheckoutSession session) {
    return session.success_url().replace("{CHECKOUT_SESSION_ID}", session.id());
  }

  private <R extends Reply> Future<R> ask(RoutingContext routing, Request<R> request) {
    Call call = Call.within(Api.requestId(routing.request()), null, config.timeouts().requestMs());
    return bus.ask(new FindMerchant(routing.pathParam("merchantId")), call)
        .compose(found -> bus.ask(request, call.forMerchant(found.merchant())));
  }

  private static void refuse(RoutingContext routing, Throwable error) {
    Problems.respond(routing.request(), Api.requestId(routing.request()), error);
  }
}

package io.steelyard.http;

import io.micrometer.core.instrument.MeterRegistry;
import io.steelyard.bus.Bus;
import io.steelyard.config.Config;
import io.steelyard.json.Schemas;
import io.steelyard.json.Validator;
import io.steelyard.web.Api;
import io.steelyard.web.DocsRoutes;
import io.steelyard.web.Endpoint;
import io.steelyard.web.WebServer;
import io.vertx.core.Future;
import io.vertx.core.VerticleBase;
import io.vertx.ext.web.Router;
import java.util.List;
import java.util.function.IntConsumer;
import java.util.stream.Stream;

/** The external API and its documentation on {@code http.port}. */
public final class HttpVerticle extends VerticleBase {
  private final Config config;
  private final Bus bus;
  private final MeterRegistry metrics;
  private final Schemas document;
  private final RateLimits limits;
  private final Future<Void> draining;
  private final IntConsumer bound;
  private WebServer server;

  /**
   * @param document the external API's
   * @param limits of all instances
   * @param draining completes when a stop of the service begins
   * @param bound is told the port once it is bound
   */
  public HttpVerticle(
      Config config,
      Bus bus,
      MeterRegistry metrics,
      Schemas document,
      RateLimits limits,
      Future<Void> draining,
      IntConsumer bound) {
    this.limits = limits;
    this.draining = draining;
    this.document = document;
    this.config = config;
    this.bus = bus;
    this.metrics = metrics;
    this.bound = bound;
  }

  @Override
  public Future<?> start() {
    Router router = Router.router(vertx);
    Api.begin(router, config);
    DocsRoutes.mount(router, document);
    new SandboxRoutes(bus, config).mount(router);
    Api api =
        new Api(
            vertx, config, new Authentication(vertx, bus, config, limits), metrics, endpoints());
    Api.finish(router);
    server = new WebServer(vertx, config, WebServer.Port.of(config.http()), metrics, draining);
    return server.listen(api, router).onSuccess(bound::accept);
  }

  @Override
  public Future<?> stop() {
    return server.shutdown();
  }

  private List<Endpoint> endpoints() {
    Validator schemas = document.validator();
    return Stream.of(
            new CustomerRoutes(bus, schemas, config).endpoints(),
            new CreditRoutes(bus).endpoints(),
            new CheckoutRoutes(bus, schemas).endpoints(),
            new SubscriptionRoutes(bus, schemas, config).endpoints(),
            new InvoiceRoutes(bus).endpoints(),
            new EventRoutes(bus, config, limits).endpoints())
        .flatMap(List::stream)
        .toList();
  }
}

package io.steelyard.operator;

import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.steelyard.bus.Bus;
import io.steelyard.config.Config;
import io.steelyard.db.Pools;
import io.steelyard.json.Schemas;
import io.steelyard.json.Validator;
import io.steelyard.web.Api;
import io.steelyard.web.DocsRoutes;
import io.steelyard.web.Endpoint;
import io.steelyard.web.WebServer;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.VerticleBase;
import io.vertx.ext.web.Router;
import io.vertx.sqlclient.Pool;
import java.util.List;
import java.util.function.IntConsumer;
import java.util.stream.Stream;

/** Health, metrics and the operator API on {@code management.port}, and nowhere else. */
public final class ManagementVerticle extends VerticleBase {
  private final Config config;
  private final Bus bus;
  private final Pools pools;
  private final PrometheusMeterRegistry metrics;
  private final Readiness readiness;
  private final IntConsumer bound;
  private Pool pool;
  private WebServer server;

  /**
   * @param bound is told the port once it is bound
   */
  public ManagementVerticle(
      Config config,
      Bus bus,
      Pools pools,
      PrometheusMeterRegistry metrics,
      Readiness readiness,
      IntConsumer bound) {
    this.config = config;
    this.bus = bus;
    this.pools = pools;
    this.metrics = metrics;
    this.readiness = readiness;
    this.bound = bound;
  }

  @Override
  public Future<?> start() {
    pool = pools.control(vertx);
    Router router = Router.router(vertx);
    Api.begin(router, config);
    new HealthRoutes(vertx, pool, readiness, metrics).mount(router);
    Schemas document = Schemas.operator();
    DocsRoutes.mount(router, document);
    Api api =
        new Api(vertx, config, new OperatorGate(config), metrics, endpoints(document.validator()));
    Api.finish(router);
    Future<Void> never = Promise.<Void>promise().future(); // it answers to the end of a stop
    server = new WebServer(vertx, config, WebServer.Port.of(config.management()), metrics, never);
    return server.listen(api, router).onSuccess(bound::accept);
  }

  @Override
  public Future<?> stop() {
    return server.shutdown().eventually(() -> pool.close());
  }

  private List<Endpoint> endpoints(Validator schemas) {
    MerchantScope scope = new MerchantScope(bus);
    return Stream.of(
            new MerchantRoutes(bus, schemas, scope, config.timeouts()).endpoints(),
            new CatalogRoutes(bus, schemas, scope, config).endpoints(),
            new GatewayRoutes(bus, schemas, scope).endpoints(),
            new CustomerGrantRoutes(bus, schemas, scope).endpoints(),
            new InvoiceListRoutes(bus, scope).endpoints(),
            new InvoiceChangeRoutes(bus, schemas, scope, config.timeouts()).endpoints(),
            new IntegrityRoutes(bus, scope, config.integrity()).endpoints(),
            new EventMonthRoutes(bus, config.events()).endpoints())
        .flatMap(List::stream)
        .toList();
  }
}

package io.steelyard;

import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import io.steelyard.bus.Bus;
import io.steelyard.bus.Nodes;
import io.steelyard.bus.ServiceVerticle;
import io.steelyard.cli.OperatorNote;
import io.steelyard.cluster.ClusterSecret;
import io.steelyard.cluster.ClusterState;
import io.steelyard.cluster.Membership;
import io.steelyard.config.Config;
import io.steelyard.config.StartFailure;
import io.steelyard.db.Database;
import io.steelyard.db.Endpoint;
import io.steelyard.db.Pools;
import io.steelyard.db.SqlFailures;
import io.steelyard.operator.Readiness;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.Base64;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The whole service in one object: started from a configuration, stopped in order. {@code Main}
 * runs one per process, tests as many as they like.
 */
public final class Service {
  private static final Logger LOG = LoggerFactory.getLogger(Service.class);
  private static final int TOKEN_BYTES = 32;
  private static final Duration JOIN_LIMIT = Duration.ofSeconds(180);
  private static final Duration DEMO_LIMIT = Duration.ofSeconds(60);

  private final Platform platform;
  private final Config config;
  private final boolean tokenGenerated;
  private final Database database;
  private final String schemaVersion;
  private final Pools pools;
  private final Addresses addresses;
  private volatile Deployment deployment;
  private volatile Nodes nodes;
  private final Promise<Void> stopping = Promise.promise();
  private Future<Boolean> stopped;
  private volatile boolean ready;

  /**
   * A database with the schema that this build works on.
   *
   * @param key that secrets in it are encrypted with; null where nothing else says
   */
  private record Opened(Database database, String schemaVersion, String key) {}

  private Service(Platform platform, Config given, Opened opened) {
    this.platform = platform;
    this.database = opened.database();
    this.schemaVersion = opened.schemaVersion();
    this.pools = database.pools(given.database());
    this.tokenGenerated = given.operator().token() == null;
    this.config =
        given.withSecrets(tokenGenerated ? randomToken() : given.operator().token(), opened.key());
    this.addresses = new Addresses(config);
  }

  private static String randomToken() {
    byte[] bytes = new byte[TOKEN_BYTES];
    new SecureRandom().nextBytes(bytes);
    return Base64.getUrlEncoder().withoutPadding().encodeToString(bytes);
  }

  /** Starts on a Vert.x of its own; a relative data directory is relative to the process's. */
  public static Future<Service> start(Config config) {
    return start(Platform.open(), config, Deployment::of);
  }

  /** The running service; a start that fails leaves nothing behind, the platform included. */
  static Future<Service> start(
      Platform platform, Config config, Function<Wiring, Deployment> deployment) {
    return start(platform, config, deployment, new StartLimit(JOIN_LIMIT));
  }

  /**
   * As {@link #start(Platform, Config, Function)}.
   *
   * @param limit paused while the schema is brought up to date
   */
  static Future<Service> start(
      Platform platform, Config config, Function<Wiring, Deployment> deployment, StartLimit limit) {
    return platform.closedOnFailure(
        Ports.check(platform.vertx(), config)
            .compose(free -> opened(platform, config, limit))
            .compose(service -> service.run(deployment)));
  }

  private Future<Service> run(Function<Wiring, Deployment> deployment) {
    return Future.succeededFuture()
        .compose(opened -> enter()) // also where it throws
        .compose(in -> deploy(deployment))
        .recover(this::undone);
  }

  /**
   * Joins the cluster and opens the database at the same time, as both wait for others more than
   * they work; undoes one where the other fails. Who does not join changes no schema.
   */
  private static Future<Service> opened(Platform platform, Config config, StartLimit limit) {
    Future<Platform> configured = platform.configured(config);
    Future<Opened> database = apart(() -> openDatabase(config, configured, limit));
    return Future.join(configured, database)
        .map(both -> new Service(configured.result(), config, database.result()))
        .recover(
            error ->
                configured
                    .compose(Platform::close)
                    .eventually(() -> database.compose(open -> apart(() -> closed(open))))
                    .transform(undone -> Future.failedFuture(error)));
  }

  private static void joined(Future<Platform> configured) {
    try {
      configured.await(JOIN_LIMIT.toMillis(), TimeUnit.MILLISECONDS);
    } catch (TimeoutException e) {
      throw new StartFailure("the cluster could not be joined in " + JOIN_LIMIT, e);
    }
  }

  private static boolean closed(Opened opened) {
    return opened.database().close(StopOrder.POSTGRES_LIMIT);
  }

  /** On a thread that belongs to no Vert.x: the first one of a process ends meanwhile. */
  private static <T> Future<T> apart(Supplier<T> blocking) {
    Promise<T> outcome = Promise.promise();
    new Thread(
            () -> {
              try {
                outcome.complete(blocking.get());
              } catch (RuntimeException | Error e) {
                outcome.fail(e);
              }
            },
            "steelyard-database")
        .start();
    return outcome.future();
  }

  private static Opened openDatabase(Config config, Future<Platform> configured, StartLimit limit) {
    Database database = Database.open(config.database(), Path.of(""));
    try {
      String schema = migrated(database, config.database(), configured, limit);
      LOG.info("Database {} has schema version {}", database.endpoint(), schema);
      String configuredKey = config.security().encryptionKey();
      return new Opened(
          database,
          schema,
          configuredKey == null ? database.encryptionKey().orElse(null) : configuredKey);
    } catch (RuntimeException | Error e) {
      database.close(StopOrder.POSTGRES_LIMIT);
      throw e;
    }
  }

  private static String migrated(
      Database database, Config.Database config, Future<Platform> configured, StartLimit limit) {
    try {
      return database.migrate(
          config,
          () -> {
            joined(configured);
            limit.pause();
          });
    } finally {
      limit.resume();
    }
  }

  /** Gets the event bus ready, in the cluster too where there is one. */
  private Future<?> enter() {
    Vertx vertx = platform.vertx();
    Membership membership = platform.membership();
    if (membership == null) {
      Contracts.register(vertx);
      return Future.succeededFuture();
    }
    ClusterSecret secret = new ClusterSecret(config.cluster().secret());
    Contracts.register(vertx, secret.keyFor("event bus"));
    return Platform.detached(Nodes.open(vertx, membership.nodeId(), platform.metrics()))
        .map(
            opened -> {
              nodes = opened;
              membership.onLeft(opened::forget);
              return opened;
            });
  }

  private Bus bus() {
    return new Bus(platform.vertx(), nodes == null);
  }

  private Optional<ClusterState> clusterState() {
    return nodes == null
        ? Optional.empty()
        : Optional.of(
            new ClusterState(
                platform.membership().joined(),
                platform.membership().members(),
                nodes.unanswered()));
  }

  private Future<Service> deploy(Function<Wiring, Deployment> factory) {
    Vertx vertx = platform.vertx();
    ServiceVerticle.Settings settings =
        new ServiceVerticle.Settings(
            config.limits().verticleInFlightPerInstance(), platform.metrics(), SqlFailures::of);
    deployment =
        factory.apply(
            new Wiring(
                vertx,
                config,
                pools,
                platform.metrics(),
                settings,
                bus(),
                () -> ready,
                new Readiness(() -> ready, stopping.future(), schemaVersion, this::clusterState),
                addresses::listening,
                addresses::publicUrl));
    return Platform.detached(deployment.start(vertx))
        .compose(started -> Platform.detached(vertx.executeBlocking(this::leaveOperatorNote)))
        .map(
            noted -> {
              ready = true;
              return this;
            });
  }

  /**
   * For the commands of whoever may read the data directory: a token made here is in no setting.
   */
  private Void leaveOperatorNote() {
    if (listens(Deployment.MANAGEMENT)) {
      String token = tokenGenerated ? config.operator().token() : null;
      database.leave(OperatorNote.FILE, new OperatorNote(managementUrl(), token).text());
    }
    return null;
  }

  private <T> Future<T> undone(Throwable error) {
    Throwable explained =
        error instanceof Deployment.Failed failed ? Ports.explained(failed, config) : error;
    Promise<T> undone = Promise.promise();
    stop().onComplete(stopped -> undone.fail(explained));
    return undone.future();
  }

  /**
   * Not ready from now on; then in order, see {@link StopOrder}.
   *
   * @return whether all of it went in order; what did not is logged
   */
  public synchronized Future<Boolean> stop() {
    if (stopped == null) {
      boolean asked = ready && listens(Deployment.HTTP);
      ready = false;
      stopping.complete();
      stopped = new StopOrder(config, platform, database).run(asked, nodes, deployment);
    }
    return stopped;
  }

  /** The effective configuration, with the secrets that the start made. */
  public Config config() {
    return config;
  }

  /** Whether nobody else knows the operator's token yet, so that it has to be shown once. */
  public boolean operatorTokenGenerated() {
    return tokenGenerated;
  }

  /** How a client reaches the external API: as configured, or on this machine. */
  public String publicUrl() {
    return addresses.publicUrl();
  }

  /** How a client on this machine reaches the management port. */
  public String managementUrl() {
    return addresses.managementUrl();
  }

  /**
   * The demo merchant, where one is wanted and the database is not somebody's own. Nobody needs it
   * so much that the service should end for its failure.
   */
  Future<Optional<Demo.Introduction>> demo() {
    if (!config.demoEnabled()) {
      return Future.succeededFuture(Optional.empty());
    }
    return new Demo(vertx(), bus(), pools, config)
        .prepare()
        .timeout(DEMO_LIMIT.toMillis(), TimeUnit.MILLISECONDS)
        .recover(
            error -> {
              LOG.warn("There is no demo merchant: {}", error.toString());
              return Future.succeededFuture(Optional.empty());
            });
  }

  public Vertx vertx() {
    return platform.vertx();
  }

  public PrometheusMeterRegistry metrics() {
    return platform.metrics();
  }

  public Endpoint database() {
    return database.endpoint();
  }

  public boolean ready() {
    return ready;
  }

  boolean listens(String verticle) {
    return addresses.listens(verticle);
  }

  /** The port that the verticle of this name listens on, also where the configuration says 0. */
  public int port(String verticle) {
    return addresses.port(verticle);
  }
}

package io.steelyard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.steelyard.Entry.Kind;
import io.steelyard.config.Config;
import io.steelyard.config.StartFailure;
import io.steelyard.db.Endpoint;
import io.steelyard.db.LentPrograms;
import io.steelyard.support.PostgresSupport;
import io.steelyard.support.TestConfig;
import io.vertx.core.Context;
import io.vertx.core.Deployable;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.VerticleBase;
import io.vertx.core.http.HttpServer;
import java.net.BindException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ServiceIT {
  private static final String TOKEN = "a-token-of-more-than-16-characters";

  private final List<String> seen = new CopyOnWriteArrayList<>();

  private static Config external(Map<String, String> more) {
    Endpoint database = PostgresSupport.emptyDatabase();
    String url =
        "postgresql://%s:%s@%s:%d/%s"
            .formatted(
                database.user(),
                URLEncoder.encode(database.password(), StandardCharsets.UTF_8),
                database.host(),
                database.port(),
                database.database());
    Map<String, String> settings = new java.util.HashMap<>(more);
    settings.put("database.url", url);
    settings.put("operator.token", TOKEN);
    return TestConfig.with(settings);
  }

  private static Service start(Config config, Function<Wiring, Deployment> deployment)
      throws Exception {
    return Service.start(Platform.open(), config, deployment).await(60, TimeUnit.SECONDS);
  }

  private static boolean stop(Service service) throws Exception {
    return service.stop().await(30, TimeUnit.SECONDS);
  }

  /** Notes its start and its stop. */
  private Deployable noting(String name, Wiring wiring) {
    return new VerticleBase() {
      @Override
      public Future<?> start() {
        String thread = Context.isOnWorkerThread() ? " on a worker" : "";
        seen.add("+" + name + thread + (wiring.ready().getAsBoolean() ? " ready" : ""));
        return Future.succeededFuture();
      }

      @Override
      public Future<?> stop() {
        seen.add("-" + name + (wiring.ready().getAsBoolean() ? " ready" : ""));
        return Future.succeededFuture();
      }
    };
  }

  @Test
  void kindsSayWhatStartsAndStopsWhenAndThereIsNoReadinessMeanwhile() throws Exception {
    Service service =
        start(
            external(Map.of()),
            wiring ->
                new Deployment(
                    List.of(
                        Entry.eventLoop(Kind.EDGE, "http", 1, () -> noting("http", wiring)),
                        Entry.eventLoop(
                            Kind.FEATURE, "customer", 2, () -> noting("customer", wiring)),
                        Entry.eventLoop(Kind.FEATURE, "usage", 0, () -> noting("usage", wiring)),
                        Entry.worker(
                            Kind.CLOCKWORK, "aggregation", 1, () -> noting("aggregation", wiring)),
                        Entry.eventLoop(
                            Kind.MANAGEMENT,
                            "management",
                            1,
                            () -> noting("management", wiring)))));

    assertThat(service.ready()).isTrue();
    assertThat(stop(service)).isTrue();

    assertThat(service.ready()).isFalse();
    assertThat(seen)
        .containsExactly(
            "+management",
            "+customer",
            "+customer",
            "+http",
            "+aggregation on a worker",
            "-http",
            "-aggregation",
            "-customer",
            "-customer",
            "-management");
  }

  /** Each waits for the other. */
  @Test
  void featuresStartSideBySide() throws Exception {
    Promise<Void> customer = Promise.promise();
    Promise<Void> credit = Promise.promise();
    Service service =
        start(
            external(Map.of()),
            wiring ->
                new Deployment(
                    List.of(
                        Entry.eventLoop(
                            Kind.FEATURE, "customer", 1, () -> meeting(customer, credit)),
                        Entry.eventLoop(
                            Kind.FEATURE, "credit", 1, () -> meeting(credit, customer)))));

    assertThat(stop(service)).isTrue();
  }

  private static Deployable meeting(Promise<Void> here, Promise<Void> there) {
    return context -> {
      here.complete();
      return there.future();
    };
  }

  @Test
  void aStopWaitsForTheRequestsInFlight() throws Exception {
    CompletableFuture<Void> arrived = new CompletableFuture<>();
    Service service =
        start(
            external(Map.of()),
            wiring ->
                new Deployment(
                    List.of(
                        Entry.eventLoop(Kind.EDGE, "http", 1, () -> slowHttp(wiring, arrived)))));
    try (HttpClient client = HttpClient.newHttpClient()) {
      CompletableFuture<HttpResponse<String>> answer =
          client.sendAsync(
              HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + service.port("http")))
                  .build(),
              HttpResponse.BodyHandlers.ofString());
      arrived.get(10, TimeUnit.SECONDS);

      assertThat(stop(service)).isTrue();

      assertThat(answer.get(10, TimeUnit.SECONDS).body()).isEqualTo("done");
    }
  }

  private static Deployable slowHttp(Wiring wiring, CompletableFuture<Void> arrived) {
    return new VerticleBase() {
      private HttpServer server;

      @Override
      public Future<?> start() {
        server =
            vertx
                .createHttpServer()
                .requestHandler(
                    request -> {
                      arrived.complete(null);
                      vertx.setTimer(500, timer -> request.response().end("done"));
                    });
        return server
            .listen(wiring.config().http().port(), wiring.config().http().host())
            .onSuccess(listening -> wiring.listening().accept("http", listening.actualPort()));
      }

      @Override
      public Future<?> stop() {
        return server.shutdown(10, TimeUnit.SECONDS);
      }
    };
  }

  @Test
  void aVerticleThatFailsToStartTakesEverythingDownAgain() throws Exception {
    Platform platform = Platform.open();
    Config config = external(Map.of());

    assertThatThrownBy(
            () ->
                Service.start(
                        platform,
                        config,
                        wiring ->
                            new Deployment(
                                List.of(
                                    Entry.eventLoop(
                                        Kind.FEATURE, "usage", 1, () -> noting("usage", wiring)),
                                    Entry.eventLoop(
                                        Kind.FEATURE, "credit", 1, () -> failing("no credit")))))
                    .await(60, TimeUnit.SECONDS))
        .hasMessage("the verticle \"credit\" did not start")
        .hasRootCauseMessage("no credit");

    assertThat(seen).containsExactly("+usage", "-usage");
  }

  private static Deployable failing(String message) {
    return context -> Future.failedFuture(new IllegalStateException(message));
  }

  @Test
  void aPortTakenBetweenTheCheckAndTheListeningIsNamedToo() {
    Config config = external(Map.of("http.port", "54329"));

    assertThatThrownBy(
            () ->
                start(
                    config,
                    wiring ->
                        new Deployment(
                            List.of(
                                Entry.eventLoop(
                                    Kind.EDGE,
                                    "http",
                                    1,
                                    () ->
                                        context ->
                                            Future.failedFuture(
                                                new BindException("Address already in use")))))))
        .isInstanceOf(StartFailure.class)
        .hasMessage("http.port 54329 on 127.0.0.1 is already in use");
  }

  @Test
  void aTakenPortIsRefusedBeforeTheDatabaseIsAsked() throws Exception {
    try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getByName("127.0.0.1"))) {
      Config config =
          TestConfig.with(
              Map.of(
                  "management.port",
                  Integer.toString(taken.getLocalPort()),
                  "database.url",
                  "postgresql://u:p@127.0.0.1:1/d",
                  "operator.token",
                  TOKEN));

      assertThatThrownBy(() -> Service.start(config).await(60, TimeUnit.SECONDS))
          .isInstanceOf(StartFailure.class)
          .hasMessage(
              "management.port " + taken.getLocalPort() + " on 127.0.0.1 is already in use");
    }
  }

  @Test
  void anEmbeddedServiceMakesTheSecretsThatNobodyGave(@TempDir Path data) throws Exception {
    LentPrograms.to(data);
    Service first = start(TestConfig.embedded(data), Deployment::of);
    Config firstConfig = first.config();
    assertThat(first.operatorTokenGenerated()).isTrue();
    assertThat(firstConfig.operator().token()).hasSize(43);
    assertThat(java.util.Base64.getDecoder().decode(firstConfig.security().encryptionKey()))
        .hasSize(32);
    assertThat(stop(first)).isTrue();

    Service second = start(TestConfig.embedded(data), Deployment::of);
    assertThat(second.config().security()).isEqualTo(firstConfig.security());
    assertThat(second.config().operator()).isNotEqualTo(firstConfig.operator());
    assertThat(stop(second)).isTrue();
  }

  @Test
  void aDatabaseElsewhereBringsNoEncryptionKeyAndNoOtherToken() throws Exception {
    Service service = start(external(Map.of()), Deployment::of);

    assertThat(service.operatorTokenGenerated()).isFalse();
    assertThat(service.config().operator().token()).isEqualTo(TOKEN);
    assertThat(service.config().security().encryptionKey()).isNull();
    assertThat(service.metrics().scrape()).contains("vertx_").contains("jvm_");
    assertThat(stop(service)).isTrue();
    assertThat(service.stop().result()).isTrue();
  }
}

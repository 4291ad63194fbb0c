package io.steelyard.faults;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.abort;

import io.steelyard.billing.BillingRun;
import io.steelyard.catalog.CatalogParser;
import io.steelyard.json.Json;
import io.steelyard.support.LossyProxy;
import io.steelyard.support.Merchant;
import io.steelyard.support.RawHttp;
import io.steelyard.support.ServiceProcess;
import io.steelyard.support.ServiceProcess.Launch;
import io.steelyard.support.SplitNetwork;
import io.steelyard.support.TestApp.Answer;
import io.steelyard.support.Verticles;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The network between the nodes is split, and whole again, while events come in to each of them and
 * all of them bill; the database is there for all. Without root, or without network namespaces,
 * this is reported as not run.
 */
class SplitFaults {
  private static final int NODES = 3;
  private static final int CONNECTIONS = 4;
  private static final int SUBSCRIPTIONS = Integer.getInteger("faults.subscriptions", 3000);
  private static final long SPLIT_S = Long.getLong("faults.splitSeconds", 30);
  private static final long TOLD_WITHIN_S = 5;
  private static final long WHOLE_WITHIN_S = 60;
  private static final String ANSWERED = "steelyard_bus_requests_seconds_count";

  /** What one node does not have, and what of a merchant needs it. */
  private record Need(String verticle, String path) {}

  /** Each of the nodes needs another for something, but not for events. */
  private static final List<Need> NEEDS =
      List.of(
          new Need("integrity", "/integrity"),
          new Need("catalog", "/catalog"),
          new Need("invoice", "/invoices"));

  private static final String PLAN_OF_THE_LAST =
      """
      SELECT p.external_id FROM customer c
        JOIN subscription s ON s.customer_id = c.id JOIN plan p ON p.id = s.plan_id
       WHERE c.external_id = '%s'
      """;

  @TempDir Path temp;

  private SplitNetwork network;
  private Scene scene;
  private List<Node> nodes;

  @BeforeEach
  void openNetwork() {
    try {
      network = SplitNetwork.open(NODES);
    } catch (SplitNetwork.Refused e) {
      abort("NOT RUN: no network of one's own may be made here: " + e.getMessage());
    }
  }

  @AfterEach
  void closeNetwork() {
    if (network != null) {
      network.close();
    }
  }

  /**
   * @param members that each node should know of while it is split; empty where that is open
   */
  private void run(String name, List<Integer> members, Runnable split, Runnable meanwhile)
      throws Exception {
    try (Scene opened = Scene.open(name, temp)) {
      scene = opened;
      BillingRun bills =
          BillingRun.prepare(Scene.directory(name), scene.postgres().endpoint(), SUBSCRIPTIONS);
      try (LossyProxy database =
          new LossyProxy(network.gateway(), scene.postgres().endpoint().port())) {
        nodes = scene.cluster(IntStream.range(0, NODES).mapToObj(i -> on(i, database)).toList());
        Scene.start(nodes);
        try (EventLoad load = scene.load()) {
          askEverybody();
          scene.awaitMore(load, 1000, 60);

          split.run();
          long splitAt = System.nanoTime();
          bills.begin(process(1));
          meanwhile.run();
          Thread.sleep(Math.max(0, SPLIT_S * 1000 - msSince(splitAt)));
          nodes.forEach(node -> scene.say("split: %s", node.ready().body()));
          assertThat(nodes).anyMatch(node -> !knows(node, NODES));
          for (int i = 0; i < members.size(); i++) {
            assertThat(nodes.get(i)).as("node %d", i).matches(knowing(members.get(i)));
          }
          assertThat(IntStream.range(0, NODES).mapToObj(i -> load.door(i).acceptedAtNanos()))
              .allSatisfy(at -> assertThat(msSince(at)).isLessThan(5000));
          network.heal();

          long healedAt = System.nanoTime();
          Scene.awaitMembers(nodes, WHOLE_WITHIN_S);
          scene.say("healed: one cluster again after %d ms", msSince(healedAt));
          askEverybody();
          scene.say("healed: each is asked by others after %d ms", msSince(healedAt));
          assertThat(msSince(healedAt)).isLessThan(WHOLE_WITHIN_S * 1000);
          scene.awaitMore(load, 1000, 60);
          bills.finish(process(2));
          scene.check(load);
          assertThat(load.statuses())
              .as("no node needs others for events")
              .containsOnlyKeys(202, 400);
        }
        bills.check(process(0));
      }
    }
  }

  private Node.Place on(int host, LossyProxy database) {
    return scene
        .through(network.gateway(), database)
        .launched(Launch.ofThisBuild().after(network.on(host)))
        .with(BillingRun.SETTINGS)
        .with(Verticles.without(NEEDS.get(host).verticle()))
        .with(
            Map.of(
                "http.host", network.outside(host),
                "management.host", network.outside(host),
                "cluster.host", network.inside(host)));
  }

  private ServiceProcess process(int node) {
    return nodes.get(node).process();
  }

  /** Each node asks both the others, for what it does not have itself, until they have answered. */
  private void askEverybody() {
    for (int i = 0; i < NODES; i++) {
      Need need = NEEDS.get(i);
      String path = "/operator/merchants/" + scene.account().merchantId() + need.path();
      ServiceProcess asking = process(i);
      for (int j = 0; j < NODES; j++) {
        if (j != i) {
          Node asked = nodes.get(j);
          String address = "address=\"billing." + need.verticle() + "\"";
          double before = asked.metric(ANSWERED, address);
          Scene.until(
              "node " + j + " answers node " + i,
              WHOLE_WITHIN_S,
              () ->
                  asking.operator("GET", path, null).join().statusCode() == 200
                      && asked.metric(ANSWERED, address) > before);
        }
      }
    }
  }

  private static long msSince(long nanos) {
    return TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - nanos);
  }

  private static Predicate<Node> knowing(int members) {
    return node -> knows(node, members);
  }

  private static boolean knows(Node node, int members) {
    return node.ready().body().contains("\"members\":" + members + ",");
  }

  @Test
  void oneIsApartFromTwoAndIsToldOfNothing() throws Exception {
    run(
        "split-one",
        List.of(1, 2, 2),
        () -> network.move(0, 1),
        this::whatIsChangedElsewhereIsNoticed);
  }

  /** A key revoked and a catalogue changed where the word of it cannot be heard. */
  private void whatIsChangedElsewhereIsNoticed() {
    HttpResponse<String> created =
        process(2)
            .operator("POST", "/operator/merchants", Map.of("name", "New", "environment", "live"))
            .join();
    String merchant = at(created, 201, "id");
    String first = at(created, 201, "apiKey.key");
    String path = "/operator/merchants/" + merchant;
    apply(path, "defaultPlan: pro");
    HttpResponse<String> key =
        process(2).operator("POST", path + "/api-keys", Map.of("type", "secret")).join();
    String second = at(key, 201, "key");
    assertThat(create(second, "before")).isEqualTo("pro");

    apply(path, "defaultPlan: lite");
    long changedAt = System.nanoTime();
    Scene.until(
        "the plan is the new one",
        TOLD_WITHIN_S,
        () -> create(second, "after-" + System.nanoTime()).equals("lite"));
    scene.say("split: a changed catalogue was noticed after %d ms", msSince(changedAt));

    assertThat(refusing(second)).as("both instances know the key now").isZero();
    String revoked = path + "/api-keys/" + at(key, 201, "id");
    assertThat(process(2).operator("DELETE", revoked, Map.of()).join().statusCode()).isEqualTo(204);
    long revokedAt = System.nanoTime();
    Scene.until("the key is refused", TOLD_WITHIN_S, () -> refusing(second) == CONNECTIONS);
    scene.say("split: a revoked key was noticed after %d ms", msSince(revokedAt));
    assertThat(refusing(first)).isZero();
  }

  private void apply(String merchantPath, String defaultPlan) {
    String yaml = Merchant.CATALOG.replaceAll("defaultPlan: .*", defaultPlan);
    HttpResponse<String> applied =
        process(2).operator("PUT", merchantPath + "/catalog", CatalogParser.yaml(yaml)).join();
    assertThat(applied.statusCode()).as(applied.body()).isEqualTo(200);
  }

  /** The plan that a new customer of the node apart is subscribed to. */
  private String create(String key, String externalId) {
    HttpResponse<String> created =
        process(0)
            .external("POST", "/external/customers", key, Map.of("externalId", externalId))
            .join();
    assertThat(created.statusCode()).as(created.body()).isEqualTo(201);
    return scene.query(PLAN_OF_THE_LAST.formatted(externalId));
  }

  /**
   * On how many of some connections to the node apart, over all its instances, a key is refused.
   */
  private int refusing(String key) {
    int refused = 0;
    for (int i = 0; i < CONNECTIONS; i++) {
      try (RawHttp http = RawHttp.connect(nodes.get(0).host(), nodes.get(0).port())) {
        String request = "GET /external/customers HTTP/1.1\nHost: a\nX-Api-Key: " + key + "\n\n";
        refused += http.send(request).read().status() == 401 ? 1 : 0;
      }
    }
    return refused;
  }

  private static <T> T at(HttpResponse<String> answer, int status, String path) {
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(status);
    return Answer.at(Json.readMap(answer.body()), path);
  }

  @Test
  void eachIsAlone() throws Exception {
    run(
        "split-all",
        List.of(1, 1, 1),
        () -> {
          network.move(1, 1);
          network.move(2, 2);
        },
        () -> {});
  }

  @Test
  void whatOneSaysReachesNobody() throws Exception {
    run(
        "split-one-way",
        List.of(),
        () -> {
          network.deafen(1, 0);
          network.deafen(2, 0);
        },
        () -> {});
  }
}

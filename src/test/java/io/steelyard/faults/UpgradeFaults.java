package io.steelyard.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.db.Endpoint;
import io.steelyard.faults.Ledger.Entry;
import io.steelyard.faults.Ledger.Outcome;
import io.steelyard.faults.Ledger.Sent;
import io.steelyard.faults.Node.Place;
import io.steelyard.json.Json;
import io.steelyard.support.Merchant;
import io.steelyard.support.ServiceProcess;
import io.steelyard.support.ServiceProcess.Launch;
import io.steelyard.support.Tables;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Two nodes of the previous version run; two of this one start on the same database at once, and
 * bring its schema up to date, while events come in. Both versions store, count and bill side by
 * side, in one cluster if the old ones know of such; then these are replaced one after the other.
 */
class UpgradeFaults {
  private static final long ASKED_EVERY_MS = 500;
  private static final String SCHEMA =
      "SELECT max(version) FROM flyway_schema_history WHERE success";

  /** Of the merchant's first customers, those that events are sent for. */
  private static final String BILLED =
      """
      SELECT concat_ws(' ', i.customer_id, count(*), trim_scale(sum(i.total)))
        FROM invoice i WHERE i.merchant_id = '%s' AND i.status <> 'pending'
       GROUP BY i.customer_id
      """;

  @TempDir Path temp;

  private Launch previous;
  private Scene scene;

  @ParameterizedTest
  @EnumSource
  void bothVersionsServeSideBySideAndTheOldOneIsReplaced(PreviousBuild build) throws Exception {
    previous = Launch.ofJar(build.jar());
    boolean clustered = build == PreviousBuild.CLUSTERED;
    try (Scene opened = Scene.open("upgrade-" + build, temp, this::account)) {
      scene = opened;
      List<Place> places = List.of(before(), before(), scene.here(), scene.here());
      List<Node> all =
          clustered ? scene.cluster(places) : places.stream().map(scene::node).toList();
      List<Node> old = all.subList(0, 2);
      List<Node> young = all.subList(2, 4);
      old.forEach(Node::start);
      String schema = scene.query(SCHEMA);
      try (ReadinessWatch watch = new ReadinessWatch(all, ASKED_EVERY_MS);
          EventLoad atOld = scene.load(old, watch::isReady)) {
        scene.awaitMore(atOld, 1000, 60);

        Merchant.atOnce(young.size(), i -> young.get(i).start());
        if (clustered) {
          Scene.awaitMembers(all, 30);
        }

        scene.say("schema %s, now %s; the old nodes go on", schema, scene.query(SCHEMA));
        assertThat(scene.query(SCHEMA)).isGreaterThan(schema);
        try (EventLoad atYoung = scene.load(young, watch::isReady)) {
          scene.awaitMore(atOld, 1000, 60);
          scene.awaitMore(atYoung, 1000, 60);
          readWhatTheOtherWrites(old.getFirst().process(), young.getFirst().process());
          scene.check(atYoung, atOld);
          assertThat(atOld.statuses()).containsOnlyKeys(202, 400);
          assertThat(atYoung.statuses()).containsOnlyKeys(202, 400);
        }
        billOnBoth(old.getFirst().process(), young.getFirst().process());
        replace(old, all, watch);
        if (clustered) {
          Scene.awaitMembers(all, 30);
        }
      }
    }
  }

  private Account account(Endpoint database) {
    try (ServiceProcess first =
        ServiceProcess.start(
            Scene.directory("upgrade-account"), database, Map.of(), Map.of(), previous)) {
      return Account.make(first);
    }
  }

  private Place before() {
    return scene.here().launched(previous);
  }

  private void readWhatTheOtherWrites(ServiceProcess old, ServiceProcess young) {
    String key = scene.account().apiKey();
    for (ServiceProcess writer : List.of(old, young)) {
      ServiceProcess reader = writer == old ? young : old;
      String externalId = writer == old ? "of-the-old" : "of-the-new";
      HttpResponse<String> created =
          writer
              .external("POST", "/external/customers", key, Map.of("externalId", externalId))
              .join();
      assertThat(created.statusCode()).as(created.body()).isEqualTo(201);
      Object id = Json.readMap(created.body()).get("id");
      HttpResponse<String> read =
          reader.external("GET", "/external/customers/" + id, key, null).join();
      assertThat(read.statusCode()).as(read.body()).isEqualTo(200);
    }
  }

  /** Both work through the end of the first month, at once. */
  private void billOnBoth(ServiceProcess old, ServiceProcess young) {
    Account account = scene.account();
    String clock = "/operator/merchants/" + account.merchantId() + "/clock";
    Map<String, Object> now = Map.of("now", Instant.now().plus(Duration.ofDays(40)).toString());
    List<HttpResponse<String>> answers =
        Merchant.atOnce(2, i -> (i == 0 ? old : young).operator("PUT", clock, now).join());
    assertThat(answers).allSatisfy(a -> assertThat(a.statusCode()).as(a.body()).isEqualTo(200));

    List<String> expected =
        IntStream.range(0, account.customers().size())
            .mapToObj(i -> account.customerUuids().get(i) + " 2 " + billed(i))
            .toList();
    assertThat(Tables.query(scene.postgres().endpoint(), BILLED.formatted(account.merchantUuid())))
        .containsAll(expected);
    scene.checkBooks();
  }

  /** Two months in advance, a dollar for each call and one for each event. */
  private long billed(int customer) {
    Collection<Entry> entries = scene.ledger().entries().values();
    return 2 * Account.BASE_PRICE
        + entries.stream()
            .filter(entry -> entry.outcome() == Outcome.ACKED)
            .map(Entry::event)
            .filter(event -> event.customer() == customer)
            .mapToLong(UpgradeFaults::price)
            .sum();
  }

  private static long price(Sent event) {
    return 1 + (event.name().equals("call") ? event.count() : 0);
  }

  /** An old one may still be started; then each becomes a new one. */
  private void replace(List<Node> old, List<Node> all, ReadinessWatch watch) throws Exception {
    try (EventLoad load = scene.load(all, watch::isReady)) {
      scene.awaitMore(load, 1000, 60);
      old.getLast().process().stop();
      old.getLast().start();
      scene.say("a node of the previous version starts on schema %s", scene.query(SCHEMA));
      for (Node node : old) {
        node.process().stop();
        node.becomes(Launch.ofThisBuild());
        node.start();
        scene.awaitMore(load, 1000, 60);
      }
      scene.check(load);
    }
  }
}

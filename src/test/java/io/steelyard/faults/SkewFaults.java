package io.steelyard.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.billing.BillingRun;
import io.steelyard.db.Endpoint;
import io.steelyard.faults.Node.Place;
import io.steelyard.support.Merchant;
import io.steelyard.support.PostgresSupport;
import io.steelyard.support.TestApp;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.Month;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The clocks of three nodes of a cluster disagree: one is ten minutes behind, one right, one ten
 * minutes ahead, while events come in to all and all bill. A merchant whose clock was set has its
 * invoices by that clock alone. One whose clock is the system's has none before the foremost clock
 * says so, and none twice. Without a C compiler this is reported as not run.
 */
class SkewFaults {
  private static final List<Duration> AHEAD =
      List.of(Duration.ZERO, Duration.ofMinutes(-10), Duration.ofMinutes(10));
  private static final Duration FOREMOST = Duration.ofMinutes(10);
  private static final Duration NEAR = Duration.ofSeconds(20);
  private static final int SUBSCRIPTIONS = Integer.getInteger("faults.subscriptions", 3000) / 10;

  /** When what is looked at is due by the right clock, from when the nodes are started. */
  private static final List<Duration> DUE_AFTER =
      List.of(
          Duration.ofMinutes(4),
          Duration.ofMinutes(7),
          FOREMOST.plusSeconds(45),
          FOREMOST.plusSeconds(75));

  private static final Duration NOT_YET = Duration.ofHours(1);
  private static final Duration GRACE = Duration.ofHours(12);

  private static final String MADE_AND_FINAL =
      """
      CREATE TABLE seen (invoice uuid, what text, due_at timestamptz, at timestamptz);
      CREATE FUNCTION see() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        IF TG_OP = 'INSERT' THEN
          INSERT INTO seen VALUES (NEW.id, 'made', NEW.boundary_at, clock_timestamp());
        ELSIF OLD.status = 'pending' AND NEW.status <> 'pending' THEN
          INSERT INTO seen VALUES (NEW.id, 'final', OLD.finalise_at, clock_timestamp());
        END IF;
        RETURN NULL;
      END $$;
      CREATE TRIGGER see AFTER INSERT OR UPDATE ON invoice FOR EACH ROW EXECUTE FUNCTION see()
      """;

  /** To a node that is behind, what has been in force for less than that is not yet. */
  private static final String OLD_PRICES =
      """
      UPDATE price SET active_from = active_from - interval '1 h';
      UPDATE plan_allocation SET active_from = active_from - interval '1 h';
      UPDATE billable_rules SET active_from = active_from - interval '1 h'
      """;

  private static final String LIVE =
      " JOIN invoice i ON i.id = s.invoice JOIN merchant m ON m.id = i.merchant_id"
          + " WHERE m.environment = 'live' AND i.boundary_index = 1";

  /** By how many seconds of the right clock the earliest came before it was due. */
  private static final String EARLIEST =
      "SELECT max(extract(epoch FROM s.due_at - s.at)) FROM seen s" + LIVE;

  private static final String TWICE =
      "SELECT count(*) FROM (SELECT FROM seen GROUP BY invoice, what HAVING count(*) > 1) twice";

  private static final String DATED_BEFORE_DUE =
      "SELECT count(*) FROM seen s" + LIVE + " AND i.created_at < i.boundary_at";

  @TempDir Path temp;

  @Test
  void noInvoiceIsEarlyAndNothingHappensTwice() throws Exception {
    try (Scene scene = Scene.open("skew", temp)) {
      Endpoint database = scene.postgres().endpoint();
      BillingRun run = BillingRun.prepare(Scene.directory("skew"), database, SUBSCRIPTIONS);
      subscribe(database);
      PostgresSupport.execute(database, MADE_AND_FINAL, OLD_PRICES);
      int before = run.made();
      List<Node> nodes = scene.cluster(places(scene));
      Scene.start(nodes);
      Scene.until(
          "what waited is counted",
          60,
          () -> scene.query("SELECT count(*) FROM event_batch").equals("0"));
      try (EventLoad load = scene.load()) {
        for (int i = 0; i < nodes.size(); i++) {
          Instant created = MovedClock.created(scene.account(), nodes.get(i), "by-" + i);
          assertThat(Duration.between(Instant.now(), created)).isCloseTo(AHEAD.get(i), NEAR);
        }
        int due = DUE_AFTER.size();
        Scene.until("made", Scene.stretched(120), () -> seen(scene, "made") == 2 * due + 1);
        Scene.until("final", Scene.stretched(60), () -> seen(scene, "final") == due);
        assertThat(run.made()).as("by the clock that was set").isEqualTo(before);
        run.begin(nodes.get(1).process());
        run.begin(nodes.get(2).process());
        run.finish(nodes.getFirst().process());
        scene.awaitMore(load, 1000, 60);
        scene.check(load);
      }
      checkSeen(scene);
      scene.say("%d invoices by the clock that was set", run.invoices());
      nodes.forEach(node -> run.check(node.process()));
    }
  }

  private List<Place> places(Scene scene) throws Exception {
    List<Place> places = new ArrayList<>();
    for (Duration ahead : AHEAD) {
      MovedClock clock = MovedClock.make(Files.createDirectory(temp.resolve("clock" + ahead)));
      clock.moveTo(ahead.toSeconds());
      places.add(scene.here().with(BillingRun.SETTINGS).withEnvironment(clock.environment()));
    }
    return places;
  }

  /**
   * A live merchant's subscriptions in the middle of their lives, with usage: of some the second
   * boundary comes soon, of the others the end of the grace after it.
   */
  private static void subscribe(Endpoint database) {
    Instant now = Instant.now();
    try (TestApp app = TestApp.start(database, Map.of("verticles.billing.instances", "0"))) {
      Merchant merchant = app.merchant("live", Merchant.CATALOG);
      String plan = merchant.planId(Merchant.CATALOG, "pro");
      List<Duration> all = new ArrayList<>(DUE_AFTER);
      all.add(NOT_YET);
      for (Duration after : all) {
        subscribe(merchant, plan, "made-" + after, now.plus(after));
        subscribe(merchant, plan, "final-" + after, now.plus(after).minus(GRACE));
      }
    }
  }

  private static void subscribe(Merchant merchant, String plan, String name, Instant boundary) {
    LocalDateTime second = LocalDateTime.ofInstant(boundary, ZoneOffset.UTC);
    boolean leapDay = second.getMonth() == Month.FEBRUARY && second.getDayOfMonth() == 29;
    String customer = merchant.customerId(name);
    merchant.subscribe(
        Map.of(
            "customerId",
            customer,
            "planId",
            plan,
            "billingCadence",
            leapDay ? "monthly" : "annually",
            "startDate",
            second.minusMonths(leapDay ? 1 : 12).toInstant(ZoneOffset.UTC).toString()));
    Instant used = boundary.minus(Duration.ofDays(1));
    merchant
        .call("POST", "/external/event/")
        .json(List.of(merchant.event(customer, "api.request", 7, name, used)))
        .send(202);
  }

  private static int seen(Scene scene, String what) {
    return Integer.parseInt(
        scene.query("SELECT count(*) FROM seen s" + LIVE + " AND s.what = '" + what + "'"));
  }

  private static void checkSeen(Scene scene) {
    double earliest = Double.parseDouble(scene.query(EARLIEST));
    scene.say("the earliest invoice came %.1f s before it was due by the right clock", earliest);
    assertThat(earliest).isGreaterThan(60).isLessThanOrEqualTo(FOREMOST.toSeconds());
    assertThat(scene.query(TWICE)).isEqualTo("0");
    assertThat(scene.query(DATED_BEFORE_DUE)).isEqualTo("0");
    assertThat(seen(scene, "made")).isEqualTo(2 * DUE_AFTER.size() + 1);
    assertThat(seen(scene, "final")).isEqualTo(DUE_AFTER.size());
  }
}

package io.steelyard.billing;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.support.Merchant;
import io.steelyard.support.ServiceProcess;
import io.steelyard.support.TestApp;
import io.steelyard.support.TestApp.Answer;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A billing run whose processes are killed, and one that several share, come to what an undisturbed
 * one comes to: each invoice once, and to the cent.
 *
 * <p>More kills with {@code -Dcrash.kills}, the same moments again with {@code -Dcrash.seed}.
 */
@Order(1) // the longest
class CrashIT {
  private static final int KILLS = Integer.getInteger("crash.kills", 8);
  private static final long SEED = Long.getLong("crash.seed", System.nanoTime());
  private static final int JITTER_MS = 30;
  private static final long REACHED_WITHIN_S = 300;
  private static final String END = "2040-03-10T00:00:00Z";

  /** Small transactions, so that there are many; what a killed one has leased is soon free. */
  private static final Map<String, String> SETTINGS =
      Map.of(
          "billing.pollMs", "50",
          "billing.claimMax", "50",
          "delivery.pollMs", "50",
          "delivery.backoffMs", "100",
          "delivery.backoffMaxMs", "1000",
          "delivery.attemptsMax", "100",
          "delivery.leaseMs", "4000",
          "gateway.callTimeoutMs", "1000");

  /** What is done so far: counts up to the end of the run. */
  private static final String PROGRESS =
      """
      SELECT (SELECT count(*) FROM subscription_period)
           + (SELECT count(*) FROM invoice WHERE status <> 'pending')
           + (SELECT count(*) FROM invoice WHERE external_id IS NOT NULL)
           + (SELECT count(*) FROM credit_transaction)
      """;

  /** Of schedule and dates alone: starts of periods, and ends, since each has metered prices. */
  private static final String BOUNDARIES =
      """
      SELECT sum((SELECT count(*)
                    FROM generate_series(0, 12 / months) AS k
                   WHERE s.start_date + k * months * interval '1 month'
                         <= least('%s'::timestamptz, s.end_date - interval '1 ms'))
                 + (s.end_date <= '%s')::int)
        FROM (SELECT start_date, coalesce(end_date, '9999-01-01Z') AS end_date,
                     CASE billing_cadence WHEN 'monthly' THEN 1 WHEN 'quarterly' THEN 3
                                          ELSE 12 END AS months
                FROM subscription) s
      """
          .formatted(END, END);

  private static final String AT_BOUNDARIES =
      """
      SELECT count(*) FROM invoice i JOIN subscription s ON s.id = i.subscription_id
       WHERE i.boundary_index <= s.period_index + (s.status = 'ended')::int
      """;

  /** That there is something of everything to go wrong. */
  private static final String VARIETY =
      """
      SELECT EXISTS (SELECT FROM invoice_line_item WHERE kind = 'adjustment' AND amount > 0)
         AND EXISTS (SELECT FROM allocation_block WHERE origin = 'rollover')
         AND EXISTS (SELECT FROM credit_transaction WHERE type = 'expiration')
         AND EXISTS (SELECT FROM credit_draw)
         AND EXISTS (SELECT FROM invoice WHERE external_id IS NOT NULL)
         AND NOT EXISTS (SELECT FROM subscription WHERE parked_at IS NOT NULL)
      """;

  private static Crowd facts;
  private static Crowd undisturbed;
  private static Ledgers expected;
  private static long begun;
  private static long done;

  @TempDir Path dir;
  private final Random random = new Random(SEED);

  @BeforeAll
  static void billUndisturbed() throws Exception {
    facts = Crowd.make(SETTINGS);
    undisturbed = facts.copy();
    try (TestApp app = TestApp.start(undisturbed.database(), SETTINGS)) {
      long startedAt = System.nanoTime();
      undisturbed.in(app).at(END);
      say("undisturbed: %d ms", (System.nanoTime() - startedAt) / 1_000_000);
    }
    begun = progress(facts);
    done = progress(undisturbed);
    expected = Ledgers.of(undisturbed);
  }

  private static long progress(Crowd crowd) {
    return Long.parseLong(crowd.one(PROGRESS));
  }

  private ServiceProcess process(Crowd crowd) {
    return ServiceProcess.start(dir, crowd.database(), SETTINGS);
  }

  private static CompletableFuture<HttpResponse<String>> run(ServiceProcess process, Crowd crowd) {
    return process.operator(
        "PUT", "/operator/merchants/" + crowd.merchantId() + "/clock", Map.of("now", END));
  }

  /** Kills somewhere within the run, by what is done and not by time, however slow it is. */
  private void killAt(ServiceProcess process, Crowd crowd, long moment) throws Exception {
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(REACHED_WITHIN_S);
    while (progress(crowd) < moment) {
      assertThat(process.handle().isAlive())
          .as(() -> "it lives: " + process.output() + process.errors())
          .isTrue();
      assertThat(System.nanoTime())
          .as(() -> "not at " + moment + " yet: " + process.output())
          .isLessThan(end);
      Thread.sleep(2);
    }
    Thread.sleep(random.nextInt(JITTER_MS));
    process.kill();
    say("killed at %d of %d..%d", progress(crowd), begun, done);
  }

  private long anyMoment() {
    return begun + (long) (random.nextDouble() * (done - begun));
  }

  private void isAsUndisturbed(Crowd crowd) {
    try (TestApp app = TestApp.start(crowd.database(), SETTINGS)) {
      Merchant merchant = crowd.in(app).at(END);
      Answer report = merchant.operator("GET", "/integrity").send(200);
      assertThat(report.<List<?>>at("findings")).isEmpty();
      assertThat(report.<Boolean>at("clean")).isTrue();
    }
    assertThat(Ledgers.of(crowd).differences(expected)).isEmpty();
    assertThat(crowd.one("SELECT max(vanity_id) = count(*) AND min(vanity_id) = 1 FROM invoice"))
        .isEqualTo("t");
  }

  private static void say(String format, Object... values) {
    System.out.println("crash: " + format.formatted(values));
  }

  @Test
  void undisturbedEachBoundaryHasItsInvoice() {
    say("%d invoices, %d blocks", expected.invoices().size(), expected.units().size());

    assertThat(expected.subscriptions()).hasSize(Crowd.SUBSCRIPTIONS);
    assertThat(undisturbed.one(AT_BOUNDARIES)).isEqualTo(undisturbed.one(BOUNDARIES));
    assertThat(expected.invoices())
        .hasSizeGreaterThan(Integer.parseInt(undisturbed.one(BOUNDARIES)));
    assertThat(undisturbed.one(VARIETY)).isEqualTo("t");
    isAsUndisturbed(undisturbed);
  }

  @Test
  void killedAtRandomMomentsItBillsEverythingOnce() throws Exception {
    say("seed %d, %d kills", SEED, KILLS);
    Crowd crowd = facts.copy();
    List<Long> moments = IntStream.range(0, KILLS).mapToObj(kill -> anyMoment()).sorted().toList();
    for (long moment : moments) {
      try (ServiceProcess process = process(crowd)) {
        run(process, crowd);
        killAt(process, crowd, moment);
      }
    }

    try (ServiceProcess last = process(crowd)) {
      assertThat(run(last, crowd).get().statusCode()).isEqualTo(200);
    }

    isAsUndisturbed(crowd);
  }

  @ParameterizedTest
  @ValueSource(ints = {2, 3})
  void severalProcessesShareTheRunAlsoWhenOneIsKilled(int count) throws Exception {
    say("seed %d, %d processes", SEED, count);
    Crowd crowd = facts.copy();
    List<ServiceProcess> processes = Merchant.atOnce(count, each -> process(crowd));
    try {
      processes.forEach(each -> run(each, crowd));
      killAt(processes.getFirst(), crowd, anyMoment());

      assertThat(run(processes.getLast(), crowd).get().statusCode()).isEqualTo(200);
    } finally {
      processes.forEach(ServiceProcess::close);
    }

    isAsUndisturbed(crowd);
  }

  @Test
  void severalInstancesOfOneProcessShareTheRun() {
    Crowd crowd = facts.copy();
    Map<String, String> settings = new HashMap<>(SETTINGS);
    settings.put("verticles.billing.instances", "3");
    settings.put("verticles.aggregation.instances", "2");
    try (TestApp app = TestApp.start(crowd.database(), settings)) {
      crowd.in(app).at(END);
    }

    isAsUndisturbed(crowd);
  }
}

package io.steelyard.billing;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.db.Endpoint;
import io.steelyard.json.Json;
import io.steelyard.support.ServiceProcess;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;

/**
 * Some months of many subscriptions, to be billed by whoever is there, and what it comes to where
 * nothing disturbs it.
 */
public final class BillingRun {
  /** Small transactions, so that there are many; what a killed one has leased is soon free. */
  public static final Map<String, String> SETTINGS =
      Map.of(
          "billing.pollMs", "50",
          "billing.claimMax", "50",
          "delivery.pollMs", "50",
          "delivery.backoffMs", "100",
          "delivery.backoffMaxMs", "1000",
          "delivery.attemptsMax", "100",
          "delivery.leaseMs", "4000",
          "gateway.callTimeoutMs", "1000");

  private static final String END = "2040-05-10T00:00:00Z";
  private static final int AGAIN = 5;

  private final Crowd crowd;
  private final Ledgers expected;

  private BillingRun(Crowd crowd, Ledgers expected) {
    this.crowd = crowd;
    this.expected = expected;
  }

  /**
   * @param dir for the output of who bills undisturbed
   * @param database nobody is connected to it
   * @param subscriptions a multiple of 10
   */
  public static BillingRun prepare(Path dir, Endpoint database, int subscriptions)
      throws Exception {
    Crowd crowd = Crowd.make(database, SETTINGS, subscriptions);
    Crowd undisturbed = crowd.copyElsewhere();
    BillingRun alone = new BillingRun(undisturbed, null);
    try (ServiceProcess node = ServiceProcess.start(dir, undisturbed.database(), SETTINGS)) {
      alone.finish(node);
    }
    return new BillingRun(crowd, Ledgers.of(undisturbed));
  }

  /** How many invoices there are to be. */
  public int invoices() {
    return expected.invoices().size();
  }

  /** How many there are by now, those that are not final included. */
  public int made() {
    return Integer.parseInt(
        crowd.one(
            "SELECT count(*) FROM invoice WHERE merchant_id = '%s'"
                .formatted(crowd.merchantUuid())));
  }

  /** Everything is due now; who is asked may be killed before it answers. */
  public CompletableFuture<HttpResponse<String>> begin(ServiceProcess node) {
    return node.operator(
        "PUT", "/operator/merchants/" + crowd.merchantId() + "/clock", Map.of("now", END));
  }

  /** Returns when nothing is due any more. */
  public void finish(ServiceProcess node) {
    HttpResponse<String> answer = begin(node).join();
    assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
  }

  /** Each invoice once and to the cent, by number without a gap; run again, nothing comes of it. */
  public void check(ServiceProcess node) {
    assertThat(Ledgers.of(crowd).differences(expected)).isEmpty();
    for (int i = 0; i < AGAIN; i++) {
      finish(node);
    }
    assertThat(made()).isEqualTo(invoices());
    assertThat(
            crowd.one(
                "SELECT max(vanity_id) = count(*) AND min(vanity_id) = 1 FROM invoice"
                    + " WHERE merchant_id = '%s'".formatted(crowd.merchantUuid())))
        .isEqualTo("t");
    HttpResponse<String> report =
        node.operator("GET", "/operator/merchants/" + crowd.merchantId() + "/integrity", null)
            .orTimeout(Duration.ofMinutes(2).toSeconds(), java.util.concurrent.TimeUnit.SECONDS)
            .join();
    assertThat(Json.readMap(report.body())).as(report.body()).containsEntry("clean", true);
  }
}

package io.steelyard.billing;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.catalog.CatalogParser;
import io.steelyard.json.Json;
import io.steelyard.support.PostgresSupport;
import io.steelyard.support.ServiceProcess;
import io.steelyard.support.TestApp.Answer;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The time zone of the machine that a process runs on is on no invoice: made through a year, over
 * the days on which clocks change, with a database that was migrated there, invoices read the same
 * to the byte apart from ids and numbers.
 */
class TimeZonesIT {
  private static final Pattern ID = Pattern.compile("\\b[a-z]+_[0-7][0-9a-hjkmnp-tv-z]{25}\\b");

  /** In the order in which they are made, which is nobody's. */
  private static final Pattern NUMBER = Pattern.compile("\"vanityId(String)?\":\"?\\d+\"?");

  private static final DateTimeFormatter WITH_OFFSET =
      DateTimeFormatter.ISO_OFFSET_DATE_TIME.withZone(ZoneOffset.ofHours(-5));

  private static final String BEGIN = "2040-03-01T00:00:00Z";

  /** To before, at and after changes of clocks. */
  private static final List<String> CLOCKS =
      List.of(
          "2040-03-11T06:59:59.999Z",
          "2040-03-12T04:00:00Z",
          "2040-03-31T15:00:00Z",
          "2040-04-01T13:30:00Z",
          "2040-10-06T15:30:00Z",
          "2040-11-04T06:00:00Z",
          "2041-03-12T00:00:00Z");

  private static final List<String> STARTS =
      List.of(
          "2040-03-04T06:30:00Z",
          "2040-03-11T07:00:00Z",
          "2040-03-11",
          "2040-03-31T14:45:00Z",
          "2040-03-31",
          "2040-04-30T10:00:00Z");

  @TempDir static Path dir;
  private static String expected;

  @BeforeAll
  static void inUtc() {
    expected = invoices("UTC");
    assertThat(expected.lines().count()).isGreaterThan(100);
  }

  @ParameterizedTest
  @ValueSource(strings = {"America/New_York", "Australia/Lord_Howe", "Pacific/Apia"})
  void areTheSameInEveryTimeZone(String zone) {
    assertThat(invoices(zone)).isEqualTo(expected);
  }

  /** One on each line. */
  private static String invoices(String zone) {
    Map<String, String> settings = Map.of("user.timezone", zone);
    try (ServiceProcess process =
        ServiceProcess.start(dir, PostgresSupport.emptyDatabase(), settings, Map.of("TZ", zone))) {
      List<String> all = new ArrayList<>();
      for (String own : List.of("America/New_York", "Australia/Lord_Howe")) {
        all.addAll(new Billed(process, own).invoices());
      }
      Map<String, String> names = new HashMap<>();
      return ID.matcher(NUMBER.matcher(String.join("\n", all)).replaceAll(""))
          .replaceAll(id -> names.computeIfAbsent(id.group(), each -> "id-" + names.size()));
    }
  }

  /** A merchant of a process, its customer, and a year of invoices. */
  private static final class Billed {
    private final ServiceProcess process;
    private final String path;
    private final String key;
    private final List<Object> subscriptions = new ArrayList<>();

    Billed(ServiceProcess process, String zone) {
      this.process = process;
      Map<String, Object> merchant =
          tree(
              process.operator(
                  "POST",
                  "/operator/merchants",
                  Map.of("name", "Merchant", "environment", "test", "timezone", zone)));
      path = "/operator/merchants/" + merchant.get("id");
      key = Answer.at(merchant, "apiKey.key");
      operator("PUT", "/clock", Map.of("now", BEGIN));
      Map<String, Object> catalog =
          tree(operator("PUT", "/catalog", CatalogParser.yaml(Account.CATALOG)));
      Object customer =
          tree(external("POST", "/customers", Map.of("externalId", "acme"))).get("id");
      for (String start : STARTS) {
        HttpResponse<String> created =
            external(
                    "POST",
                    "/subscriptions/bulk",
                    List.of(
                        Map.of(
                            "customerId", customer,
                            "planId", Answer.<Object>at(catalog, "plans.0.id"),
                            "startDate", start)))
                .join();
        String only = created.body().substring(1, created.body().length() - 1);
        subscriptions.add(Json.readMap(only).get("id"));
      }
      external("POST", "/event/", events(customer));
      for (String now : CLOCKS) {
        operator("PUT", "/clock", Map.of("now", now));
      }
    }

    /** Every six hours and a half, half of them with an offset. */
    private static List<Map<String, Object>> events(Object customer) {
      List<Map<String, Object>> events = new ArrayList<>();
      Instant at = Instant.parse(BEGIN);
      for (int i = 0; i < 1000; i++) {
        events.add(
            Map.of(
                "customerId",
                customer,
                "eventName",
                "call",
                "idempotencyKey",
                "event-" + i,
                "generatedAt",
                i % 2 == 0 ? at.toString() : WITH_OFFSET.format(at),
                "data",
                Map.of("count", 1 + i % 7)));
        at = at.plus(Duration.ofMinutes(390));
      }
      return events;
    }

    /** Of each subscription in turn, in the order of their boundaries. */
    List<String> invoices() {
      List<String> all = new ArrayList<>();
      for (Object subscription : subscriptions) {
        String query = "/invoices?pageSize=100&orderBy=createdAt&order=asc&subscriptionId=";
        List<Map<String, Object>> heads =
            Answer.at(tree(operator("GET", query + subscription, null)), "results");
        for (Map<String, Object> head : heads) {
          String path = "/invoices/" + head.get("id") + "/with-line-items";
          all.add(external("GET", path, null).join().body());
        }
      }
      return all;
    }

    private CompletableFuture<HttpResponse<String>> operator(
        String method, String below, Object body) {
      return done(process.operator(method, path + below, body));
    }

    private CompletableFuture<HttpResponse<String>> external(
        String method, String below, Object body) {
      return done(process.external(method, "/external" + below, key, body));
    }

    private static CompletableFuture<HttpResponse<String>> done(
        CompletableFuture<HttpResponse<String>> asked) {
      HttpResponse<String> answer = asked.join();
      assertThat(answer.statusCode()).as(answer.body()).isBetween(200, 299);
      return asked;
    }

    private static Map<String, Object> tree(CompletableFuture<HttpResponse<String>> asked) {
      return Json.readMap(done(asked).join().body());
    }
  }
}

package io.steelyard.operator;

import static io.steelyard.support.Merchant.eventually;
import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.json.Json;
import io.steelyard.support.Authority;
import io.steelyard.support.Authority.Issued;
import io.steelyard.support.ClusterMetrics;
import io.steelyard.support.Merchant;
import io.steelyard.support.PostgresSupport;
import io.steelyard.support.TestApp;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;

/** What alerts, dashboard and README name is what a service really reports. */
class MonitoringIT {
  private static final Path RULES = Path.of("docker/prometheus/rules.yml");
  private static final Path DASHBOARD = Path.of("docker/grafana/dashboards/steelyard.json");

  private static final String CHARGED =
      """
      plans:
        - externalId: lite
          name: Lite
          netTerms: net30
          basePrices: {monthly: 9}
      """;

  /** Of Prometheus itself, not of what it scrapes. */
  private static final Map<String, Set<String>> OF_PROMETHEUS =
      Map.of("up", Set.of("job", "instance"));

  private static final Set<String> OF_EVERY_TARGET = Set.of("job", "instance");

  @TempDir private static Path dir;
  private static final Map<String, Set<String>> LABELS = new TreeMap<>(OF_PROMETHEUS);

  @BeforeAll
  static void scrape() throws Exception {
    Authority authority = Authority.create(dir, "ours");
    Issued server = authority.server("server");
    var database = PostgresSupport.migratedDatabase();
    try (TestApp app = TestApp.start(database, Map.of("billing.pollMs", "50"))) {
      use(app);
      System.gc(); // a pause is told of after the first one
      assertThat(eventually(() -> text(app), metrics -> metrics.contains("jvm_gc_pause_seconds")))
          .contains("jvm_gc_pause_seconds");
      read(text(app));
    }
    Map<String, String> secured =
        Map.of(
            "http.tls.certificatePath", server.certificate().toString(),
            "http.tls.keyPath", server.key().toString());
    try (TestApp app = TestApp.start(database, secured)) {
      read(text(app));
    }
  }

  /** Traffic of each kind that has a metric. */
  private static void use(TestApp app) throws Exception {
    Merchant metered = app.merchant("test", Merchant.CATALOG);
    String customer = (String) metered.createCustomer("one").get("id");
    metered.post("/external/event", List.of(metered.event(customer, "api.request", 1, "first")));
    Map<String, Object> nothing = metered.event(customer, "api.request", 1, "second");
    nothing.put("data", Map.of());
    metered.post("/external/event", List.of(nothing));
    Merchant charged = app.merchant("test", CHARGED).connect("CardGateway");
    charged.subscribe(
        Map.of(
            "customerId",
            charged.customerId("two"),
            "planId",
            charged.planId(CHARGED, "lite"),
            "paymentGateway",
            "CardGateway",
            "autoChargeInvoice",
            true));
    String[] made = {"steelyard_delivery_attempts_total", "steelyard_usage_unratable_total"};
    assertThat(eventually(() -> text(app), metrics -> Stream.of(made).allMatch(metrics::contains)))
        .contains(made);
  }

  private static String text(TestApp app) {
    return app.management("GET", "/metrics").undocumented().send(200).text();
  }

  private static void read(String metrics) {
    Pattern sample = Pattern.compile("^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\\{(.*)})? \\S+$");
    Pattern label = Pattern.compile("([a-zA-Z_]\\w*)=\"(?:[^\"\\\\]|\\\\.)*\"");
    metrics
        .lines()
        .filter(line -> !line.startsWith("#"))
        .forEach(
            line -> {
              MatchResult found = sample.matcher(line).results().findFirst().orElseThrow();
              Set<String> labels =
                  LABELS.computeIfAbsent(found.group(1), n -> new HashSet<>(OF_EVERY_TARGET));
              if (found.group(2) != null) {
                label.matcher(found.group(2)).results().forEach(each -> labels.add(each.group(1)));
              }
            });
  }

  private static List<String> unknown(String where, String expression) {
    List<String> unknown = new ArrayList<>();
    PromQl.selectors(expression)
        .forEach(
            (metric, labels) -> {
              Set<String> there = LABELS.get(metric);
              if (there == null) {
                unknown.add(where + ": there is no metric " + metric);
              } else if (!there.containsAll(labels)) {
                unknown.add(where + ": " + metric + " has labels " + there + ", not " + labels);
              }
            });
    return unknown;
  }

  private static List<Map<String, Object>> alerts() throws IOException {
    Map<String, List<Map<String, List<Map<String, Object>>>>> rules =
        new Yaml(new SafeConstructor(new LoaderOptions())).load(Files.readString(RULES));
    return rules.get("groups").stream().flatMap(group -> group.get("rules").stream()).toList();
  }

  @Test
  void alertsAskForWhatIsReported() throws IOException {
    List<String> unknown = new ArrayList<>();
    for (Map<String, Object> alert : alerts()) {
      unknown.addAll(unknown((String) alert.get("alert"), (String) alert.get("expr")));
    }
    assertThat(unknown).isEmpty();
  }

  @Test
  void everyAlertWaitsHasASeverityASummaryAndALineOnWhatToDo() throws IOException {
    String readme = Files.readString(Path.of("README.md"));
    Set<Object> names = new HashSet<>();
    for (Map<String, Object> alert : alerts()) {
      assertThat(names.add(alert.get("alert"))).as("%s is there once", alert).isTrue();
      assertThat((String) alert.get("for")).matches("\\d+[smh]");
      assertThat((Map<?, ?>) alert.get("labels"))
          .extracting("severity")
          .isIn("critical", "warning", "info");
      assertThat((Map<?, ?>) alert.get("annotations"))
          .extracting("summary")
          .asString()
          .isNotBlank();
      assertThat(readme).contains("| `" + alert.get("alert") + "` |");
    }
    Pattern told = Pattern.compile("^\\| `(Steelyard\\w+)` \\|", Pattern.MULTILINE);
    assertThat(told.matcher(readme).results().map(each -> each.group(1)))
        .containsExactlyInAnyOrderElementsOf(names.stream().map(String::valueOf).toList());
  }

  @Test
  @SuppressWarnings("unchecked")
  void theDashboardShowsWhatIsReported() throws IOException {
    Map<String, Object> dashboard = Json.MAPPER.readValue(DASHBOARD.toFile(), Map.class);
    List<String> unknown = new ArrayList<>();
    Set<Object> ids = new HashSet<>();
    int shown = 0;
    for (Map<String, Object> panel : (List<Map<String, Object>>) dashboard.get("panels")) {
      assertThat(ids.add(panel.get("id"))).as("id of %s", panel.get("title")).isTrue();
      for (Map<String, Object> target :
          (List<Map<String, Object>>) panel.getOrDefault("targets", List.of())) {
        shown++;
        assertThat((Map<?, ?>) target.get("datasource")).extracting("uid").isEqualTo("prometheus");
        unknown.addAll(unknown((String) panel.get("title"), (String) target.get("expr")));
      }
    }
    assertThat(unknown).isEmpty();
    assertThat(shown).isGreaterThan(40);
  }

  @Test
  void theReadmeNamesMetricsThatAreThereAndAllOfOurOwn() throws IOException {
    Set<String> named = new TreeSet<>();
    Pattern name = Pattern.compile("`((?:steelyard|vertx|jvm|process|system)_[a-z_]+)`");
    name.matcher(Files.readString(Path.of("README.md")))
        .results()
        .forEach(each -> named.add(each.group(1)));
    assertThat(named).containsAll(ClusterMetrics.NAMES);
    named.removeAll(ClusterMetrics.NAMES);
    Map<String, String> families = new HashMap<>();
    LABELS.keySet().forEach(each -> families.put(each, family(each)));

    assertThat(named)
        .allSatisfy(
            each ->
                assertThat(families.containsKey(each) || families.containsValue(each))
                    .as(each)
                    .isTrue());
    assertThat(families)
        .allSatisfy(
            (metric, family) ->
                assertThat(
                        !metric.startsWith("steelyard_")
                            || named.contains(metric)
                            || named.contains(family))
                    .as("the README says what %s is", metric)
                    .isTrue());
  }

  /** What a timer or a summary is called as a whole. */
  private static String family(String metric) {
    return metric.replaceFirst("_(count|sum|max)$", "");
  }
}

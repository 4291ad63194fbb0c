package io.steelyard;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.config.Config;
import io.steelyard.config.ConfigLoader;
import io.steelyard.json.Json;
import io.vertx.core.Vertx;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.TimeUnit;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.yaml.snakeyaml.LoaderOptions;
import org.yaml.snakeyaml.Yaml;
import org.yaml.snakeyaml.constructor.SafeConstructor;

/** What is in {@code docker/} fits the service and itself, as far as can be told without Docker. */
class ContainerFilesTest {
  private static final Path DOCKER = Path.of("docker");
  private static final Pattern VARIABLE = Pattern.compile("\\$\\{(\\w+)(?::([-?])([^}]*))?}");
  private static final Map<String, String> GIVEN =
      Map.of(
          "POSTGRES_PASSWORD", "0123456789abcdef",
          "STEELYARD_OPERATOR_TOKEN", "a-token-of-more-than-16-characters",
          "STEELYARD_CLUSTER_SECRET", "a-secret-of-more-than-16-characters",
          "GRAFANA_PASSWORD", "fedcba9876543210");
  private static final List<String> NODES = List.of("node1", "node2", "node3");
  private static final String POSTGRES = "compose.yaml";
  private static final String CITUS = "compose.citus.yaml";

  @TempDir Path dir;

  private static <T> T yaml(Path file) throws IOException {
    return new Yaml(new SafeConstructor(new LoaderOptions()))
        .load(substituted(Files.readString(file)));
  }

  /** As Compose does: what must be given is given here, everything else has its default. */
  private static String substituted(String text) {
    return VARIABLE
        .matcher(text)
        .replaceAll(
            variable -> {
              String value = GIVEN.get(variable.group(1));
              boolean hasDefault = "-".equals(variable.group(2));
              assertThat(value != null || hasDefault).as(variable.group()).isTrue();
              return value != null ? value : variable.group(3);
            });
  }

  private static Map<String, Map<String, Object>> services() throws IOException {
    return services(POSTGRES);
  }

  private static Map<String, Map<String, Object>> services(String file) throws IOException {
    Map<String, Map<String, Map<String, Object>>> compose = yaml(DOCKER.resolve(file));
    return compose.get("services");
  }

  private static Config config(Vertx vertx, Map<String, Object> service, Path dir)
      throws Exception {
    Map<String, String> environment = part(service, "environment");
    return ConfigLoader.load(vertx, environment, new Properties(), dir).await(10, TimeUnit.SECONDS);
  }

  @SuppressWarnings("unchecked")
  private static <T> T part(Map<String, Object> service, String name) {
    return (T) service.get(name);
  }

  @Test
  void everyNodeGetsSettingsThatItCanStartWith() throws Exception {
    Vertx vertx = Vertx.vertx();
    try {
      for (String node : NODES) {
        Config config = config(vertx, services().get(node), dir);

        assertThat(config.database().parsedUrl().host()).isEqualTo("postgres");
        assertThat(config.cluster().host()).isEqualTo(node);
        assertThat(config.cluster().members())
            .isEqualTo(NODES.stream().map(each -> each + ":" + config.cluster().port()).toList());
        assertThat(config.security().encryptionKey()).isNull(); // not given here
      }
    } finally {
      vertx.close().await();
    }
  }

  @Test
  void theNodeOnCitusStartsOnTheCoordinatorWhenTheWorkersAreKnownToIt() throws Exception {
    Map<String, Map<String, Object>> services = services(CITUS);
    Vertx vertx = Vertx.vertx();
    try {
      Config config = config(vertx, services.get("node"), dir);

      assertThat(config.database().distributed()).isTrue();
      assertThat(config.database().parsedUrl().host()).isEqualTo("coordinator");
    } finally {
      vertx.close().await();
    }
    assertThat(services.get("node").get("depends_on"))
        .isEqualTo(Map.of("membership", Map.of("condition", "service_completed_successfully")));
    assertThat(ContainerFilesTest.<Map<String, ?>>part(services.get("membership"), "depends_on"))
        .containsOnlyKeys("coordinator", "worker1", "worker2");
    assertThat(matches("citus_add_node\\('(\\w+)', 5432\\)", services.get("membership").toString()))
        .containsExactly("worker1", "worker2");
  }

  @Test
  void aNodeWritesNowhereAndMayDoNothingElse() throws IOException {
    Map<String, Map<String, Object>> nodes = new HashMap<>(services());
    nodes.keySet().retainAll(NODES);
    nodes.put("node", services(CITUS).get("node"));
    for (Map<String, Object> service : nodes.values()) {
      assertThat(service).containsEntry("read_only", true).containsKey("mem_limit");
      assertThat(ContainerFilesTest.<List<String>>part(service, "tmpfs")).hasSize(1);
      assertThat(ContainerFilesTest.<List<String>>part(service, "cap_drop")).containsExactly("ALL");
      assertThat(service).doesNotContainKey("volumes");
    }
  }

  @ParameterizedTest
  @CsvSource({POSTGRES + ",proxy", CITUS + ",node"})
  void onlyTheApiIsReachedFromOtherMachines(String file, String open) throws IOException {
    services(file)
        .forEach(
            (name, service) -> {
              List<String> ports = part(service, "ports");
              for (String port : ports == null ? List.<String>of() : ports) {
                assertThat(
                        name.equals(open) && port.equals("8080:8080")
                            || port.startsWith("127.0.0.1:"))
                    .as("%s publishes %s", name, port)
                    .isTrue();
              }
            });
  }

  @ParameterizedTest
  @ValueSource(strings = {POSTGRES, CITUS})
  void everyImageIsOfANamedVersionOrBuiltHere(String file) throws IOException {
    services(file)
        .forEach(
            (name, service) -> {
              String image = part(service, "image");
              assertThat(service.containsKey("build") || image.matches("[a-z/]+:v?\\d[\\d.]*"))
                  .as(name + ": " + image)
                  .isTrue();
            });
  }

  @ParameterizedTest
  @ValueSource(strings = {POSTGRES, CITUS})
  @SuppressWarnings("unchecked")
  void whatIsMountedAndNamedIsThere(String file) throws IOException {
    Map<String, Object> compose = yaml(DOCKER.resolve(file));
    Map<String, Object> volumes = (Map<String, Object>) compose.get("volumes");
    for (Map<String, Object> service : services(file).values()) {
      List<String> mounts = part(service, "volumes");
      for (String mount : mounts == null ? List.<String>of() : mounts) {
        String source = mount.split(":")[0];
        assertThat(
                source.startsWith(".")
                    ? Files.exists(DOCKER.resolve(source))
                    : volumes.containsKey(source))
            .as(mount)
            .isTrue();
      }
      Object after = service.get("depends_on");
      assertThat(services(file).keySet())
          .containsAll(
              after instanceof Map<?, ?> map
                  ? (Iterable<String>) map.keySet()
                  : after == null ? List.of() : (List<String>) after);
    }
  }

  @Test
  @SuppressWarnings("unchecked")
  void proxyAndPrometheusAskEveryNodeAtItsPorts() throws IOException {
    String proxy = Files.readString(DOCKER.resolve("haproxy/haproxy.cfg"));
    Map<String, List<Map<String, List<Map<String, Object>>>>> prometheus =
        yaml(DOCKER.resolve("prometheus/prometheus.yml"));

    assertThat(matches("(?m)^    server \\S+ (\\S+)$", proxy))
        .isEqualTo(NODES.stream().map(node -> node + ":8080").toList());
    assertThat(proxy).contains("uri /health/ready", "check port 8081", "bind :8080");
    assertThat(prometheus.get("scrape_configs").get(0).get("static_configs").get(0).get("targets"))
        .isEqualTo(NODES.stream().map(node -> node + ":8081").toList());
    assertThat((List<String>) (List<?>) prometheus.get("rule_files")).containsExactly("rules.yml");
    assertThat(DOCKER.resolve("prometheus/rules.yml")).exists();
  }

  @Test
  void grafanaFindsItsSourceAndItsDashboards() throws IOException {
    Map<String, List<Map<String, Object>>> sources =
        yaml(DOCKER.resolve("grafana/provisioning/datasources/prometheus.yaml"));
    Map<String, List<Map<String, Map<String, Object>>>> providers =
        yaml(DOCKER.resolve("grafana/provisioning/dashboards/steelyard.yaml"));
    List<String> mounts = part(services().get("grafana"), "volumes");

    assertThat(sources.get("datasources").get(0))
        .containsEntry("uid", "prometheus")
        .containsEntry("url", "http://prometheus:9090");
    Object path = providers.get("providers").get(0).get("options").get("path");
    assertThat(mounts).contains("./grafana/dashboards:" + path + ":ro");
  }

  /** JDK-8377932; the others do not come further either, as that Java does nothing. */
  @ParameterizedTest
  @CsvSource({
    "25, , true",
    "25.0.3, , true",
    "25.0.3.1, , true",
    "26, , true",
    "26.0.0.1, , true",
    "25.0.3, --jar-stays, false",
    "25.0.4, , false",
    "25.0.10, , false",
    "26.0.1, , false",
    "27, , false"
  })
  void noCacheIsMadeWithAJavaThatWouldRunAnOlderJarsClasses(
      String version, String option, boolean refused, @TempDir Path temp) throws Exception {
    Path java =
        Files.writeString(
            temp.resolve("java"),
            "#!/bin/sh\necho '    java.version = %s' >&2\n".formatted(version));
    assertThat(java.toFile().setExecutable(true)).isTrue();
    Path cache = temp.resolve("steelyard.aot");
    List<String> command = new ArrayList<>(List.of("docker/aot-cache.sh"));
    if (option != null) {
      command.add(option);
    }
    command.addAll(List.of(java.toString(), cache.toString(), java.toString()));

    Process script = new ProcessBuilder(command).redirectErrorStream(true).start();

    String said = new String(script.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(script.waitFor()).isEqualTo(1);
    assertThat(said.contains("would not notice that the jar has changed")).isEqualTo(refused);
    assertThat(cache).doesNotExist();
  }

  @Test
  void theImageStartsTheJarAsSomebodyWithoutRights() throws IOException {
    List<String> lines = new ArrayList<>(Files.readAllLines(DOCKER.resolve("Dockerfile")));
    int user = lines.indexOf("USER steelyard");
    String start = lines.get(lines.size() - 1);

    assertThat(user).isPositive();
    assertThat(lines.subList(user + 1, lines.size())).noneMatch(line -> line.startsWith("USER"));
    assertThat(start).startsWith("ENTRYPOINT ");
    List<?> command = Json.MAPPER.readValue(start.substring("ENTRYPOINT ".length()), List.class);
    assertThat(command).first().isEqualTo("java");
    assertThat(command).last().isEqualTo("/opt/steelyard/steelyard.jar");
    List<String> caches = matches("COPY --from=started \\S+ (\\S+)", String.join("\n", lines));
    assertThat(caches).hasSize(1);
    assertThat(command.get(command.indexOf("-jar") - 1))
        .isEqualTo("-XX:AOTCache=" + caches.getFirst());
    assertThat(matches("COPY (docker/\\S+)", String.join("\n", lines)))
        .isNotEmpty()
        .allMatch(file -> Files.isExecutable(Path.of(file)));
    assertThat(matches("COPY --from=build \\S+ (\\S+)", String.join("\n", lines)))
        .containsExactly("/opt/steelyard/steelyard.jar");
  }

  private static List<String> matches(String pattern, String text) {
    return Pattern.compile(pattern).matcher(text).results().map(one -> group(one)).toList();
  }

  private static String group(MatchResult match) {
    return match.group(1);
  }
}

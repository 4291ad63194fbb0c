package io.steelyard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.steelyard.cluster.Membership;
import io.steelyard.config.Config;
import io.steelyard.config.StartFailure;
import io.steelyard.db.Endpoint;
import io.steelyard.support.ClusterSettings;
import io.steelyard.support.PostgresSupport;
import io.steelyard.support.TestApp;
import io.steelyard.support.TestConfig;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Of a start that fails nothing is left, whichever part of it fails. */
class UndoneStartIT {
  private static Config node(Map<String, String> settings, String databaseUrl) {
    Map<String, String> all = new HashMap<>(settings);
    all.put("database.url", databaseUrl);
    all.put("database.connectTimeoutMs", "1000");
    all.put("operator.token", TestApp.OPERATOR_TOKEN);
    return TestConfig.with(all);
  }

  private static void start(Config config, Function<Wiring, Deployment> deployment)
      throws Exception {
    Service.start(Platform.open(), config, deployment).await(60, TimeUnit.SECONDS);
  }

  private static void assertHasLeft(Config config) throws IOException {
    try (ServerSocket port = new ServerSocket()) {
      port.setReuseAddress(true);
      port.bind(new InetSocketAddress(config.cluster().host(), config.cluster().port()));
    }
  }

  @Test
  void whoMayNotJoinChangesNoSchema() throws Exception {
    Endpoint database = PostgresSupport.emptyDatabase();
    List<Map<String, String>> settings = ClusterSettings.of(List.of("127.0.0.1", "127.0.0.1"));
    Membership member = Membership.join(node(settings.getFirst(), TestApp.url(database)).cluster());
    Map<String, String> stranger = new HashMap<>(settings.getLast());
    stranger.put("cluster.secret", "another secret, as long");
    Config config = node(stranger, TestApp.url(database));
    try {
      assertThatThrownBy(() -> start(config, Deployment::of))
          .isInstanceOf(StartFailure.class)
          .hasMessageContaining("does not share cluster.secret");

      assertThat(
              PostgresSupport.column(
                  database, "SELECT relname FROM pg_class WHERE relname = 'merchant'"))
          .isEmpty();
      assertHasLeft(config);
    } finally {
      member.leave();
    }
  }

  @Test
  void whoFindsNoDatabaseLeavesTheCluster() throws Exception {
    Config config =
        node(
            ClusterSettings.of(List.of("127.0.0.1")).getFirst(),
            "postgresql://u:p@127.0.0.1:1/nowhere");

    assertThatThrownBy(() -> start(config, Deployment::of))
        .isInstanceOf(StartFailure.class)
        .hasMessageContaining("cannot be reached");

    assertHasLeft(config);
  }

  @Test
  void whatIsThrownBeforeTheVerticlesIsUndoneToo(@TempDir Path data) throws Exception {
    Config clustered =
        node(
            ClusterSettings.of(List.of("127.0.0.1")).getFirst(),
            TestApp.url(PostgresSupport.emptyDatabase()));
    Function<Wiring, Deployment> broken =
        wiring -> {
          throw new IllegalStateException("no key");
        };

    assertThatThrownBy(() -> start(clustered, broken)).hasMessage("no key");
    assertHasLeft(clustered);

    assertThatThrownBy(() -> start(TestConfig.embedded(data), broken)).hasMessage("no key");
    assertThat(data.resolve("postgres").resolve("postmaster.pid")).doesNotExist();
  }
}

package io.steelyard.db;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.json.Json;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;

class PoolSizesTest {
  /** Who sets {@code max_connections} by them must not find the server full. */
  @Test
  @SuppressWarnings("unchecked")
  void theReadmeAndComposeTellHowManyConnectionsANodeOpens() throws Exception {
    Map<String, Object> database =
        (Map<String, Object>)
            Json.readMap(Files.readString(Path.of("conf/config.json"))).get("database");
    int configured =
        database.entrySet().stream()
            .filter(setting -> setting.getKey().endsWith("PoolSize"))
            .mapToInt(setting -> ((Number) setting.getValue()).intValue())
            .sum();
    int all = configured + Pools.INTEGRITY_SIZE + Pools.RETENTION_SIZE;

    assertThat(Files.readString(Path.of("README.md")))
        .contains("It gets " + all + " connections of each node");
    assertThat(Files.readString(Path.of("docker/compose.yaml")))
        .contains("A node opens " + all + " connections by default");
  }
}

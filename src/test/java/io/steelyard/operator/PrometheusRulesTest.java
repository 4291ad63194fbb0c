package io.steelyard.operator;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIf;
import org.junit.jupiter.api.io.TempDir;

/** Prometheus' own tool on the alerts: which of them fire, and which do not, on given histories. */
class PrometheusRulesTest {
  private static final Path RULES = Path.of("docker/prometheus/rules.yml");
  private static final Path HISTORIES = Path.of("src/test/resources/prometheus/rules-test.yml");

  @TempDir Path temp;

  static boolean toolIsThere() {
    return Stream.of(System.getenv("PATH").split(File.pathSeparator))
        .anyMatch(directory -> Files.isExecutable(Path.of(directory, "promtool")));
  }

  @Test
  @EnabledIf("toolIsThere")
  void alertsFireWhenTheyShould() throws Exception {
    Path histories = temp.resolve("histories.yml");
    Path told = temp.resolve("told.txt");
    String rules = RULES.toAbsolutePath().toString();
    Files.writeString(histories, Files.readString(HISTORIES).replace("RULES", "'" + rules + "'"));

    int code =
        new ProcessBuilder("promtool", "test", "rules", histories.toString())
            .redirectErrorStream(true)
            .redirectOutput(told.toFile())
            .start()
            .waitFor();

    assertThat(code).as(Files.readString(told)).isZero();
  }
}

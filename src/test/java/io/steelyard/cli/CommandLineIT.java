package io.steelyard.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.db.Endpoint;
import io.steelyard.db.LentPrograms;
import io.steelyard.json.Json;
import io.steelyard.support.CommandProcess;
import io.steelyard.support.CommandProcess.Outcome;
import io.steelyard.support.PostgresSupport;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What needs no running service, and the service itself as a command. */
class CommandLineIT {
  private static final String TOKEN = "a-token-of-more-than-16-characters";
  private static final String KEY = "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE=";

  @TempDir Path dir;

  private CommandProcess command() {
    return new CommandProcess(dir);
  }

  private CommandProcess on(Endpoint database) {
    return command()
        .with(
            "STEELYARD_DATABASE_URL",
            "postgresql://%s:pass-word@%s:%d/%s"
                .formatted(database.user(), database.host(), database.port(), database.database()))
        .with("STEELYARD_OPERATOR_TOKEN", TOKEN)
        .with("STEELYARD_SECURITY_ENCRYPTION_KEY", KEY);
  }

  @Test
  void helpListsEveryCommand() {
    Outcome help = command().run("--help");

    assertThat(help.code()).isZero();
    assertThat(help.err()).isEmpty();
    assertThat(help.out())
        .contains("run", "migrate", "check-config", "merchant", "key", "catalog", "integrity")
        .contains("Exit codes: 0 done, 1 not done or something was found, 2 wrong usage.");
    assertThat(command().run("catalog", "apply", "--help").out())
        .contains("--merchant", "--url", "--token-file", "--json", "FILE")
        .doesNotContain("--token=", "--token ");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "serve",
        "--colour",
        "run now",
        "merchant",
        "merchant create --name Shop",
        "key revoke --merchant mer_1",
        "integrity check",
        "integrity check --all --merchant mer_1",
      })
  void whatIsNotUnderstoodIsRefusedWithTwo(String line) {
    Outcome refused = command().run(line.split(" "));

    assertThat(refused.code()).isEqualTo(2);
    assertThat(refused.out()).isEmpty();
    assertThat(refused.err()).startsWith("steelyard: ").contains("--help");
  }

  @Test
  void checkConfigPrintsWhatIsInForceWithoutSecrets() {
    CommandProcess command =
        command()
            .with("STEELYARD_DATABASE_URL", "postgresql://billing:s3cret-word@db.example/main")
            .with("STEELYARD_OPERATOR_TOKEN", TOKEN)
            .with("STEELYARD_SECURITY_ENCRYPTION_KEY", KEY)
            .with("STEELYARD_HTTP_PORT", "9090");

    Outcome text = command.run("check-config");
    Outcome json = command.run("check-config", "--json");

    assertThat(text.code()).as(text.err()).isZero();
    assertThat(text.out().lines())
        .contains("http.port = 9090", "operator.token = ***", "database.url = ***")
        .contains("security.encryptionKey = ***", "http.publicUrl = null");
    assertThat(Json.readMap(json.out()))
        .containsEntry("http.port", 9090)
        .containsEntry("operator.token", "***")
        .containsEntry("limits.bodyBytes", 8388608);
    assertThat(text.out() + text.err() + json.out() + json.err())
        .doesNotContain("s3cret-word", TOKEN, KEY);
  }

  @Test
  void checkConfigNamesWhatCannotBe() throws Exception {
    Outcome bad = command().with("STEELYARD_HTTP_PORT", "http").run("check-config");
    Files.writeString(dir.resolve("more.json"), "{\"operator\": {\"tokne\": \"hidden-word\"}}");
    Outcome unknown = command().with("STEELYARD_CONFIG", "more.json").run("check-config");

    assertThat(bad.code()).isEqualTo(1);
    assertThat(bad.out()).isEmpty();
    assertThat(bad.err().lines())
        .singleElement()
        .asString()
        .startsWith("steelyard: http.port must be a whole number from 0 to 65535, not \"http\"");
    assertThat(unknown.code()).isEqualTo(1);
    assertThat(unknown.err())
        .isEqualTo("steelyard: unknown setting \"operator.tokne\" (more.json)\n");

    Outcome both =
        command()
            .with("STEELYARD_HTTP_PORT", "http")
            .with("STEELYARD_CONFIG", "more.json")
            .run("check-config");
    assertThat(both.code()).isEqualTo(1);
    assertThat(both.err().lines())
        .containsExactly(
            "steelyard: 2 faults in the settings:",
            "  unknown setting \"operator.tokne\" (more.json)",
            "  http.port must be a whole number from 0 to 65535, not \"http\""
                + " (environment variable STEELYARD_HTTP_PORT)");
  }

  @Test
  void migrateBringsAnEmptyDatabaseUpToDate() {
    Endpoint database = PostgresSupport.emptyDatabase();

    Outcome first = on(database).run("migrate", "--json");
    Outcome second = on(database).run("migrate");

    assertThat(first.code()).as(first.err()).isZero();
    String version = (String) Json.readMap(first.out()).get("schemaVersion");
    assertThat(
            PostgresSupport.column(
                database,
                "SELECT max(version) FROM flyway_schema_history WHERE success AND version IS NOT NULL"))
        .containsExactly(version);
    assertThat(second.code()).as(second.err()).isZero();
    assertThat(second.out())
        .contains("has schema version " + version)
        .contains("/" + database.database());
    assertThat(first.out() + first.err() + second.out() + second.err())
        .doesNotContain("pass-word", TOKEN, KEY);
  }

  @Test
  void migrateSaysWhyThereIsNoDatabase() {
    Outcome failed =
        command()
            .with("STEELYARD_DATABASE_URL", "postgresql://u:pass-word@127.0.0.1:1/d")
            .with("STEELYARD_OPERATOR_TOKEN", TOKEN)
            .with("STEELYARD_DATABASE_CONNECT_TIMEOUT_MS", "300")
            .run("migrate");

    assertThat(failed.code()).isEqualTo(1);
    assertThat(failed.out()).isEmpty();
    assertThat(failed.err())
        .startsWith("steelyard: the database at 127.0.0.1:1 cannot be reached")
        .doesNotContain("pass-word");
  }

  @Test
  void aCommandBesideAnEmbeddedServiceNeedsNoSettingAtAll() throws Exception {
    Path out = dir.resolve("service.out");
    Path err = dir.resolve("service.err");
    LentPrograms.to(dir.resolve("data"));
    Process service =
        command()
            .with("STEELYARD_HTTP_PORT", "0")
            .with("STEELYARD_MANAGEMENT_PORT", "0")
            .start(out, err, "run");
    try {
      long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(90);
      while (!Files.readString(out).contains("  API key ")) {
        assertThat(service.isAlive()).as(Files.readString(err)).isTrue();
        assertThat(System.nanoTime()).isLessThan(deadline);
        Thread.sleep(20);
      }

      Outcome list = command().run("merchant", "list");
      Outcome elsewhere = command().run("merchant", "list", "--url", "http://127.0.0.1:1");
      Outcome migrate = command().run("migrate");

      assertThat(list.code()).as(list.err()).isZero();
      assertThat(list.out()).startsWith("mer_").contains("Demo");
      assertThat(elsewhere.code()).isEqualTo(1);
      assertThat(elsewhere.err()).contains("no operator token is known"); // it is not for others
      assertThat(migrate.code()).isEqualTo(1);
      assertThat(migrate.err()).contains("(database.dataDir) is in use by another process");
      Path note = dir.resolve("data").resolve(OperatorNote.FILE);
      assertThat(PosixFilePermissions.toString(Files.getPosixFilePermissions(note)))
          .isEqualTo("rw-------");
    } finally {
      service.destroy();
    }
    assertThat(service.waitFor(30, TimeUnit.SECONDS)).isTrue();
    assertThat(service.exitValue()).isZero();
    assertThat(err).isEmptyFile();

    Outcome gone = command().run("merchant", "list");
    assertThat(gone.code()).isEqualTo(1);
    assertThat(gone.err()).startsWith("steelyard: no service answers at http://127.0.0.1:");
    assertThat(command().run("migrate").code()).isZero();
  }

  @Test
  void aConfigurationThatCannotBeEndsRunAsItEndsAStart() {
    Outcome refused = command().with("STEELYARD_HTTP_PROT", "1").run("run");

    assertThat(refused)
        .isEqualTo(
            new Outcome(1, "", "steelyard: unknown setting STEELYARD_HTTP_PROT (environment)\n"));
  }
}

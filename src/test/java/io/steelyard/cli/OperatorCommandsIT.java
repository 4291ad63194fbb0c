package io.steelyard.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.json.Json;
import io.steelyard.support.Authority;
import io.steelyard.support.Authority.Issued;
import io.steelyard.support.CommandProcess;
import io.steelyard.support.CommandProcess.Outcome;
import io.steelyard.support.PostgresSupport;
import io.steelyard.support.TestApp;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Commands in processes of their own, against a running service. */
class OperatorCommandsIT {
  private static final String CATALOG = "conf/demo-catalog.yaml";
  private static TestApp app;

  @TempDir Path dir;

  @BeforeAll
  static void start() {
    app = TestApp.start();
  }

  @AfterAll
  static void stop() {
    app.close();
  }

  private CommandProcess command() {
    return command(app);
  }

  private CommandProcess command(TestApp service) {
    return new CommandProcess(dir)
        .with("STEELYARD_OPERATOR_TOKEN", TestApp.OPERATOR_TOKEN)
        .with("STEELYARD_MANAGEMENT_PORT", Integer.toString(service.managementPort()));
  }

  /** The service has a certificate of an authority of its own, and asks for one of its clients. */
  @Test
  void aServiceThatSpeaksTlsIsTrustedByItsCertificateAndShownOne() {
    Authority ours = Authority.create(dir, "ours");
    Issued server = ours.server("server");
    Issued client = ours.client("client");
    String[] shown = {
      "merchant",
      "list",
      "--certificate",
      client.certificate().toString(),
      "--key",
      client.key().toString()
    };
    Map<String, String> settings =
        Map.of(
            "management.tls.certificatePath", server.certificate().toString(),
            "management.tls.keyPath", server.key().toString(),
            "management.tls.clientAuth", "required",
            "management.tls.clientCaPath", ours.certificate().toString());
    try (TestApp tls = TestApp.start(settings)) {
      CommandProcess there = command(tls);
      Outcome unknown =
          there.run(with(shown, "--url", "https://127.0.0.1:" + tls.managementPort()));
      assertThat(unknown.code()).isEqualTo(1);
      assertThat(unknown.err()).contains("no TLS with https://127.0.0.1:").contains("--ca");

      String url = "https://localhost:" + tls.managementPort();
      String authority = ours.certificate().toString();
      assertThat(there.run(with(shown, "--url", url, "--ca", authority)))
          .isEqualTo(new Outcome(0, "", ""));
      Outcome anonymous = there.run("merchant", "list", "--url", url, "--ca", authority);
      assertThat(anonymous.code()).isEqualTo(1);
      assertThat(anonymous.err()).contains("no TLS with").contains("--certificate");

      // by the settings alone
      settings.forEach(
          (name, value) ->
              there.with(
                  "STEELYARD_" + name.replace('.', '_').replaceAll("([A-Z])", "_$1").toUpperCase(),
                  value));
      assertThat(there.run(shown)).isEqualTo(new Outcome(0, "", ""));
    }
  }

  @Test
  void filesThatAreNoCertificatesAreRefused() throws Exception {
    Path text = Files.writeString(dir.resolve("text.pem"), "nothing");
    String url = "https://127.0.0.1:" + app.managementPort();

    assertThat(command().run("merchant", "list", "--url", url, "--ca", "none.pem").err())
        .contains("none.pem cannot be read");
    assertThat(command().run("merchant", "list", "--url", url, "--ca", text.toString()).err())
        .contains("holds no certificate in PEM");
    assertThat(command().run("merchant", "list", "--certificate", text.toString()).code())
        .isEqualTo(2);
  }

  private static String[] with(String[] words, String... more) {
    return Stream.concat(Stream.of(words), Stream.of(more)).toArray(String[]::new);
  }

  private String run(String... args) {
    Outcome outcome = command().run(args);
    assertThat(outcome.err()).isEmpty();
    assertThat(outcome.code()).isZero();
    return outcome.out();
  }

  private static int statusWith(String key) {
    return app.external("GET", "/external/customers").key(key).send().status();
  }

  private static String after(String label, String text) {
    return text.lines()
        .filter(line -> line.startsWith(label + "  "))
        .map(line -> line.substring(label.length()).strip())
        .findFirst()
        .orElseThrow();
  }

  @Test
  void aMerchantIsSetUpFromTheCommandLine() throws Exception {
    String created =
        run(
            "merchant",
            "create",
            "--name",
            "Shop",
            "--environment",
            "test",
            "--timezone",
            "Asia/Tokyo");
    String merchant = after("merchant", created);
    assertThat(statusWith(after("key", created))).isEqualTo(200);
    assertThat(run("merchant", "list")).contains(merchant + "  test  Asia/Tokyo  Shop");

    Map<String, Object> second =
        Json.readMap(run("key", "create", "--merchant", merchant, "--name", "b", "--json"));
    assertThat(statusWith((String) second.get("key"))).isEqualTo(200);

    String file = Path.of(CATALOG).toAbsolutePath().normalize().toString();
    assertThat(run("catalog", "apply", "--merchant", merchant, file))
        .contains("created plan pro", "created billable tokens");
    assertThat(run("catalog", "apply", "--merchant", merchant, file))
        .isEqualTo("nothing changed\n");
    roundTrip(merchant);

    run("key", "revoke", "--merchant", merchant, (String) second.get("id"));
    assertThat(statusWith((String) second.get("key"))).isEqualTo(401);
    assertThat(run("key", "list", "--merchant", merchant).lines().toList())
        .satisfiesExactly(
            first -> assertThat(first).startsWith(after("key id", created)).contains("  good"),
            revoked ->
                assertThat(revoked)
                    .startsWith((String) second.get("id"))
                    .containsPattern("secret +(never used|used 20\\S+Z) +revoked 20\\S+Z +b$"));
    assertThat(run("key", "list", "--merchant", merchant, "--json").lines().map(Json::readMap))
        .extracting(key -> key.get("name"))
        .containsExactly(null, "b");
    assertThat(statusWith(after("key", created))).isEqualTo(200);
  }

  private void roundTrip(String merchant) throws Exception {
    String yaml = run("catalog", "export", "--merchant", merchant);
    Outcome applied = command().runReading(yaml, "catalog", "apply", "--merchant", merchant, "-");
    assertThat(applied).isEqualTo(new Outcome(0, "nothing changed\n", ""));
    String json = run("catalog", "export", "--merchant", merchant, "--json");
    Files.writeString(dir.resolve("catalog.json"), json);
    assertThat(run("catalog", "apply", "--merchant", merchant, "catalog.json"))
        .isEqualTo("nothing changed\n");
    assertThat(run("catalog", "export", "--merchant", merchant)).isEqualTo(yaml);
  }

  @Test
  void whatTheServiceRefusesIsToldWithEveryFault() throws Exception {
    Outcome nobody = command().run("key", "create", "--merchant", "mer_x/../y");
    Outcome mode = command().run("merchant", "create", "--name", "", "--environment", "staging");
    Files.writeString(
        dir.resolve("bad.yaml"), "plans:\n  - {externalId: a, name: A, colour: red}\n");
    String merchant = app.merchant("test", null).id();
    Outcome bad = command().run("catalog", "apply", "--merchant", merchant, "bad.yaml");
    Outcome missing = command().run("catalog", "apply", "--merchant", merchant, "none.yaml");

    assertThat(nobody.code()).isEqualTo(1);
    assertThat(nobody.err()).startsWith("steelyard: 404 merchant_not_found: ");
    assertThat(mode.code()).isEqualTo(1);
    assertThat(mode.err()).contains("  /name: ", "  /environment: ");
    assertThat(bad.code()).isEqualTo(1);
    assertThat(bad.err()).contains("/plans/0/colour: ");
    assertThat(missing.err()).isEqualTo("steelyard: none.yaml cannot be read\n");
    assertThat(nobody.out() + mode.out() + bad.out() + missing.out()).isEmpty();
  }

  @Test
  void theTokenComesFromAFileAndAWrongOneIsNotShown() throws Exception {
    Files.writeString(dir.resolve("token"), TestApp.OPERATOR_TOKEN + "\n");
    String url = "http://127.0.0.1:" + app.managementPort();
    CommandProcess bare = new CommandProcess(dir);

    Outcome named = bare.run("merchant", "list", "--url", url, "--token-file", "token", "--json");
    Outcome none = bare.run("merchant", "list", "--url", url);
    Outcome wrong =
        bare.with("STEELYARD_OPERATOR_TOKEN", "another-token-of-somebody")
            .run("merchant", "list", "--url", url);

    assertThat(named.code()).as(named.err()).isZero();
    named.out().lines().forEach(line -> assertThat(Json.readMap(line)).containsKey("id"));
    assertThat(none.code()).isEqualTo(1);
    assertThat(none.err()).contains("STEELYARD_OPERATOR_TOKEN", "--token-file");
    assertThat(wrong.code()).isEqualTo(1);
    assertThat(wrong.err())
        .contains("refuses this operator token")
        .doesNotContain("another-token-of-somebody");
  }

  @Test
  void aNameWithControlCharactersDoesNotReachTheTerminal() {
    app.operator("POST", "/operator/merchants")
        .json(Map.of("name", "red\u001b[31m\nmer_forged", "environment", "test"))
        .send(201);

    assertThat(run("merchant", "list")).doesNotContain("\u001b", "\nmer_forged");
  }

  @Test
  void theIntegrityCheckFailsWhereSomethingIsFound() {
    String merchant = app.merchant("test", null).id();
    String broken = app.merchant("live", null).id();
    assertThat(run("integrity", "check", "--merchant", broken)).isEqualTo(broken + "  clean\n");
    PostgresSupport.execute(
        app.database(),
        "UPDATE invoice_number SET last = 3 WHERE merchant_id ="
            + " (SELECT id FROM merchant WHERE environment = 'live')");

    Outcome one = command().run("integrity", "check", "--merchant", broken);
    Outcome other = command().run("integrity", "check", "--merchant", merchant, "--json");
    Outcome all = command().run("integrity", "check", "--all");

    assertThat(one.code()).isEqualTo(1);
    assertThat(one.out()).startsWith(broken + "  not clean\n").contains("  numbers ");
    assertThat(other.code()).isZero();
    assertThat(Json.readMap(other.out())).containsEntry("clean", true);
    assertThat(all.code()).isEqualTo(1);
    assertThat(all.out()).contains(merchant + "  clean\n", broken + "  not clean\n");
  }
}

package io.steelyard.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.vertx.core.Vertx;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ConfigLoaderTest {
  private static final String TOKEN = "a-token-of-more-than-16-characters";
  private static final String URL = "postgresql://billing:s3cret@db.example:6432/main";
  private static Vertx vertx;

  @TempDir Path dir;
  private final Map<String, String> env = new HashMap<>();
  private final Properties sys = new Properties();

  @BeforeAll
  static void open() {
    vertx = Vertx.vertx();
  }

  @AfterAll
  static void close() {
    vertx.close().await();
  }

  private Config load() throws Exception {
    return ConfigLoader.load(vertx, env, sys, dir).await(10, TimeUnit.SECONDS);
  }

  private void write(String file, String json) throws IOException {
    Path path = dir.resolve(file);
    Files.createDirectories(path.getParent());
    Files.writeString(path, json);
  }

  private void refusedWith(String line) {
    assertThatThrownBy(this::load)
        .isInstanceOf(ConfigException.class)
        .hasMessage(line)
        .message()
        .doesNotContain("\n");
  }

  private void refusedWithAll(String... lines) {
    assertThatExceptionOfType(ConfigException.class)
        .isThrownBy(this::load)
        .satisfies(
            refused -> {
              assertThat(refused.faults()).containsExactly(lines);
              assertThat(refused.lines())
                  .startsWith(lines.length + " faults in the settings:")
                  .contains("  " + lines[0])
                  .hasSize(1 + lines.length);
              assertThat(refused.getMessage()).contains(lines).doesNotContain("\n");
            });
  }

  @Test
  void nothingGivenMeansTheDefaultsOfTheJar() throws Exception {
    Config config = load();

    Tls clearText = new Tls(null, null, "none", null, 60_000);
    assertThat(config.http()).isEqualTo(new Config.Http("127.0.0.1", 8080, null, clearText));
    assertThat(config.management().port()).isEqualTo(8081);
    assertThat(config.database().embedded()).isTrue();
    assertThat(config.operator().token()).isNull();
    assertThat(config.cluster().members()).isEmpty();
    assertThat(config.billing().usageGraceMs()).isEqualTo(43_200_000L);
    assertThat(config.demoEnabled()).isTrue();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          certificatePath=a | http.tls.keyPath must be set when http.tls.certificatePath is
          keyPath=a | http.tls.certificatePath must be set when http.tls.keyPath is
          clientAuth=required | http.tls.clientAuth must be none when http.tls.certificatePath is not set
          certificatePath=a keyPath=b clientAuth=request | http.tls.clientCaPath must be set when http.tls.clientAuth is request
          certificatePath=a keyPath=b clientCaPath=c | http.tls.clientAuth must be request or required when http.tls.clientCaPath is set
          clientAuth=maybe | http.tls.clientAuth must be one of none, request, required, not "maybe" (system property http.tls.clientAuth)
          """)
  void certificatesThatCannotBeAreRefused(String settings, String line) {
    for (String setting : settings.split(" ")) {
      String[] parts = setting.split("=");
      sys.put("http.tls." + parts[0], parts[1]);
    }
    refusedWith(line);
  }

  @Test
  void everySourceWinsOverTheOneBeforeIt() throws Exception {
    write("conf/config.json", "{\"limits\": {\"jsonDepth\": 11, \"stringChars\": 1001}}");
    assertThat(load().limits().jsonDepth()).isEqualTo(11);

    write("extra/mine.json", "{\"limits\": {\"jsonDepth\": 12}}");
    env.put("STEELYARD_CONFIG", "extra/mine.json");
    assertThat(load().limits().jsonDepth()).isEqualTo(12);

    env.put("STEELYARD_LIMITS_JSON_DEPTH", "13");
    assertThat(load().limits().jsonDepth()).isEqualTo(13);

    sys.setProperty("limits.jsonDepth", "14");
    assertThat(load().limits().jsonDepth()).isEqualTo(14);

    sys.setProperty("steelyard.limits.jsonDepth", "15");
    assertThat(load().limits().jsonDepth()).isEqualTo(15);
    assertThat(load().limits().stringChars()).isEqualTo(1001);
    assertThat(load().limits().headerBytes()).isEqualTo(16384);
  }

  @Test
  void theEnvironmentSpellsEveryKindOfValue() throws Exception {
    env.put("STEELYARD_DATABASE_DATA_DIR", "/var/lib/steelyard");
    env.put("STEELYARD_DEMO_ENABLED", "false");
    env.put("STEELYARD_CLUSTER_MEMBERS", "a:5701, b:5701");
    env.put("STEELYARD_BILLING_USAGE_GRACE_MS", "0");
    env.put("STEELYARD_VERTICLES_HTTP_INSTANCES", "4");

    Config config = load();

    assertThat(config.database().dataDir()).isEqualTo("/var/lib/steelyard");
    assertThat(config.demoEnabled()).isFalse();
    assertThat(config.cluster().members()).isEqualTo(List.of("a:5701", "b:5701"));
    assertThat(config.billing().usageGraceMs()).isZero();
    assertThat(config.verticles().http().instances()).isEqualTo(4);
  }

  @Test
  void anEmptyVariableUnsetsWhatMayBeUnset() throws Exception {
    write("conf/config.json", "{\"operator\": {\"token\": \"from-the-file-and-long\"}}");
    env.put("STEELYARD_OPERATOR_TOKEN", "");
    env.put("STEELYARD_DEMO_ENABLED", "");
    env.put("STEELYARD_DATABASE_URL", "");

    Config config = load();

    assertThat(config.operator().token()).isNull();
    assertThat(config.demo().enabled()).isNull();
    assertThat(config.database().embedded()).isTrue();
  }

  @Test
  void noTwoSettingsShareANameInTheEnvironment() {
    assertThat(ConfigKey.all().values())
        .extracting(ConfigKey::environmentName)
        .doesNotHaveDuplicates()
        .contains("STEELYARD_INGEST_FLUSH_EVENTS_MAX", "STEELYARD_SECURITY_ENCRYPTION_KEY");
  }

  @Test
  void theServiceLinksOfKubernetesAreNotSettings() throws Exception {
    env.put("STEELYARD_SERVICE_HOST", "10.0.0.1");
    env.put("STEELYARD_SERVICE_PORT", "8080");
    env.put("STEELYARD_SERVICE_PORT_HTTP", "8080");
    env.put("STEELYARD_PORT", "tcp://10.0.0.1:8080");
    env.put("STEELYARD_PORT_8080_TCP", "tcp://10.0.0.1:8080");
    env.put("STEELYARD_PORT_8080_TCP_ADDR", "10.0.0.1");
    env.put("STEELYARD_MANAGEMENT_SERVICE_HOST", "10.0.0.2");
    env.put("STEELYARD_MANAGEMENT_PORT", "tcp://10.0.0.2:8081");

    assertThat(load().management().port()).isEqualTo(8081);
  }

  @Test
  void unknownNamesAreRefusedWhereverTheyStand() throws IOException {
    sys.setProperty("steelyard.http.prot", "1");
    refusedWith("unknown setting steelyard.http.prot (system property)");
    env.put("STEELYARD_HTTP_PROT", "1");
    write("conf/config.json", "{\"http\": {\"prot\": 1}, \"htpt\": {}}");
    refusedWithAll(
        "unknown setting \"http.prot\" (conf/config.json)",
        "unknown setting \"htpt\" (conf/config.json)",
        "unknown setting STEELYARD_HTTP_PROT (environment)",
        "unknown setting steelyard.http.prot (system property)");
  }

  @Test
  void everythingWrongIsNamedAtOnce() throws IOException {
    write(
        "conf/config.json",
        """
        {"http": {"port": 70000, "prot": 1}, "keys": 5, "operator": {"token": 12345},
         "delivery": {"leaseMs": 1000}}
        """);
    env.put("STEELYARD_CLUSTER_ENABLED", "true");
    env.put("STEELYARD_CLUSTER_TLS_KEY", "key.pem");
    env.put("STEELYARD_LIMITS_JSON_DEPTH", "deep");
    env.put("STEELYARD_LIMIT", "1");
    sys.setProperty("log.access", "some");
    sys.setProperty("limits.jsonDepth", "3");

    refusedWithAll(
        "http.port must be a whole number from 0 to 65535, not 70000 (conf/config.json)",
        "unknown setting \"http.prot\" (conf/config.json)",
        "keys must be an object of settings (conf/config.json)",
        "operator.token must be a text that is not empty, or left out (conf/config.json)",
        "unknown setting STEELYARD_LIMIT (environment)",
        "limits.jsonDepth must be a whole number from 4 to 500, not \"deep\""
            + " (environment variable STEELYARD_LIMITS_JSON_DEPTH)",
        "limits.jsonDepth must be a whole number from 4 to 500, not 3"
            + " (system property limits.jsonDepth)",
        "log.access must be one of none, failed, usual, all, not \"some\""
            + " (system property log.access)",
        "delivery.leaseMs (1000) must be at least four times gateway.callTimeoutMs (5000), or an"
            + " attempt could be repeated while it goes on",
        "database.url must be set when cluster.enabled is true: the nodes share one database",
        "cluster.secret must be set to at least 16 characters when cluster.enabled is true",
        "cluster.tls.certificate, cluster.tls.key and cluster.tls.ca must be set all or none");
  }

  /** Nobody should be told that 8080 is taken twice who has misspelt one of the two. */
  @Test
  void whatOnlyFollowsFromAFaultIsNotNamed() throws IOException {
    env.put("STEELYARD_HTTP_PORT", "808O");
    env.put("STEELYARD_MANAGEMENT_PORT", "8080");
    refusedWith(
        "http.port must be a whole number from 0 to 65535, not \"808O\""
            + " (environment variable STEELYARD_HTTP_PORT)");
    env.clear();
    write("conf/config.json", "{\"database\": {\"url\": \"postgresql://u:p@h/d\",}}");
    env.put("STEELYARD_CLUSTER_ENABLED", "true");
    env.put("STEELYARD_CONFIG", "nowhere.json");
    assertThatExceptionOfType(ConfigException.class)
        .isThrownBy(this::load)
        .satisfies(
            refused -> {
              assertThat(refused.faults()).hasSize(2);
              assertThat(refused.faults().getFirst())
                  .startsWith("conf/config.json is not valid JSON at line 1");
              assertThat(refused.faults().getLast())
                  .isEqualTo("STEELYARD_CONFIG names nowhere.json, which is not a readable file");
            });
  }

  @Test
  void systemPropertiesOfOthersAreNotOurs() throws Exception {
    sys.setProperty("http.proxyHost", "proxy.example");
    sys.setProperty("java.version", "25");

    assertThat(load().http().port()).isEqualTo(8080);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "{\"http\": {\"port\": \"8080\"}} | \"8080\"",
        "{\"http\": {\"port\": 8080.0}}   | 8080.0",
        "{\"http\": {\"port\": true}}     | true",
        "{\"http\": {\"port\": null}}     | null",
        "{\"http\": {\"port\": 65536}}    | 65536",
        "{\"http\": {\"port\": -1}}       | -1",
        "{\"http\": {\"port\": 1e400}}    | Infinity",
      })
  void aPortIsAWholeNumberInItsBounds(String json, String shown) throws IOException {
    write("conf/config.json", json);

    refusedWith(
        "http.port must be a whole number from 0 to 65535, not " + shown + " (conf/config.json)");
  }

  @Test
  void everyKindOfValueIsCheckedInTheEnvironmentToo() {
    env.put("STEELYARD_HTTP_PORT", "80a");
    refusedWith(
        "http.port must be a whole number from 0 to 65535, not \"80a\""
            + " (environment variable STEELYARD_HTTP_PORT)");
    env.clear();
    env.put("STEELYARD_HTTP_PORT", "");
    refusedWith(
        "http.port must be a whole number from 0 to 65535, not \"\""
            + " (environment variable STEELYARD_HTTP_PORT)");
    env.clear();
    env.put("STEELYARD_CLUSTER_ENABLED", "yes");
    refusedWith(
        "cluster.enabled must be true or false, not \"yes\""
            + " (environment variable STEELYARD_CLUSTER_ENABLED)");
    env.clear();
    env.put("STEELYARD_DATABASE_DISTRIBUTION", "shards");
    refusedWith(
        "database.distribution must be one of none, citus, not \"shards\""
            + " (environment variable STEELYARD_DATABASE_DISTRIBUTION)");
    env.clear();
    env.put("STEELYARD_HTTP_HOST", "");
    refusedWith(
        "http.host must be a text that is not empty, not \"\""
            + " (environment variable STEELYARD_HTTP_HOST)");
  }

  @Test
  void aSectionIsAnObjectAndAListHoldsTexts() throws IOException {
    write("conf/config.json", "{\"http\": 8080}");
    refusedWith("http must be an object of settings (conf/config.json)");
    write("conf/config.json", "{\"cluster\": {\"members\": [1]}}");
    refusedWith("cluster.members must be a list of texts, not [1] (conf/config.json)");
  }

  @Test
  void aBadValueIsRefusedAlsoWhereALaterSourceOverridesIt() throws IOException {
    write("conf/config.json", "{\"http\": {\"port\": 70000}}");
    sys.setProperty("http.port", "8080");

    refusedWith("http.port must be a whole number from 0 to 65535, not 70000 (conf/config.json)");
  }

  @Test
  void aFileThatIsNotThereOrNotJsonIsNamed() throws IOException {
    env.put("STEELYARD_CONFIG", "nowhere.json");
    refusedWith("STEELYARD_CONFIG names nowhere.json, which is not a readable file");
    env.clear();
    write("conf/config.json", "{\n  \"operator\": {\"token\": hush }\n}");
    assertThatThrownBy(this::load)
        .isInstanceOf(ConfigException.class)
        .hasMessageStartingWith("conf/config.json is not valid JSON at line 2")
        .hasMessageNotContaining("hush");
    write("conf/config.json", "[]");
    assertThatThrownBy(this::load)
        .isInstanceOf(ConfigException.class)
        .hasMessageContaining("conf/config.json");
  }

  @Test
  void citusIsNotTheEmbeddedDatabase() {
    env.put("STEELYARD_DATABASE_DISTRIBUTION", "citus");

    refusedWith("database.url must name a Citus coordinator when database.distribution is citus");
  }

  @Test
  void aDatabaseElsewhereNeedsAnOperatorToken() throws Exception {
    env.put("STEELYARD_DATABASE_URL", URL);
    String line = "operator.token must be set to at least 16 characters when database.url is set";
    refusedWith(line);
    env.put("STEELYARD_OPERATOR_TOKEN", "15-characters-x");
    refusedWith(line);
    env.put("STEELYARD_OPERATOR_TOKEN", TOKEN);

    Config config = load();

    assertThat(config.database().parsedUrl())
        .isEqualTo(
            new DatabaseUrl("db.example", 6432, "main", "billing", "s3cret", Encryption.NONE));
    assertThat(config.demoEnabled()).isFalse();
  }

  @ParameterizedTest
  @CsvSource({
    "postgresql://u:p@h/d,                       h,   5432, d,   u,    p",
    "postgres://u:p@db_main:1/d,             db_main,    1, d,   u,    p",
    "postgresql://u:p@[::1]:6000/d,            ::1,   6000, d,   u,    p",
    "postgresql://a%40b:p%3A%2f%25%C3%A9+@h/d%20e, h, 5432, d e, a@b,  p:/%é+",
    "postgresql://u:p:q@h/d,                     h,   5432, d,   u,    p:q",
    "postgresql://u@h/d,                         h,   5432, d,   u,    ''",
  })
  void aDatabaseUrlIsTakenApart(
      String url, String host, int port, String database, String user, String password) {
    assertThat(DatabaseUrl.parse(url))
        .isEqualTo(new DatabaseUrl(host, port, database, user, password, Encryption.NONE));
  }

  @ParameterizedTest
  @CsvSource({
    "sslmode=disable,                                   DISABLE,     ",
    "sslmode=require,                                   REQUIRE,     ",
    "sslmode=verify-ca&sslrootcert=ca.pem,              VERIFY_CA,   ca.pem",
    "sslrootcert=%2Fetc%2Four%20ca.pem&sslmode=verify-full, VERIFY_FULL, /etc/our ca.pem",
  })
  void aDatabaseUrlSaysHowToEncrypt(String query, Encryption.Mode mode, String rootCert) {
    assertThat(DatabaseUrl.parse("postgresql://u:p@h/d?" + query).encryption())
        .isEqualTo(new Encryption(mode, rootCert));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      textBlock =
          """
          sslmode=prefer                | have an sslmode of disable, require, verify-ca or verify-full (allow and prefer would go on in clear text)
          sslmode=                      | have an sslmode of disable, require, verify-ca or verify-full (allow and prefer would go on in clear text)
          sslmode=verify-full           | name a PEM file as sslrootcert where sslmode is verify-full
          sslmode=verify-ca&sslrootcert=| name a PEM file as sslrootcert where sslmode is verify-ca
          sslrootcert=ca.pem            | have an sslmode of verify-ca or verify-full where sslrootcert is set
          sslmode=require&sslmode=disable | have its parameter sslmode once
          """)
  void aDatabaseUrlThatProtectsNothingIsRefused(String query, String must) {
    env.put("STEELYARD_DATABASE_URL", URL + "?" + query);
    env.put("STEELYARD_OPERATOR_TOKEN", TOKEN);
    refusedWith("database.url must " + must);
  }

  @Test
  void everyFaultOfADatabaseUrlsParametersIsNamedWithoutTheirValues() {
    env.put("STEELYARD_DATABASE_URL", URL + "?password=hush&sslmode=allow&sslrootcert=ca.pem&x");
    refusedWithAll(
        "database.url may have the parameters sslmode and sslrootcert only",
        "database.url must have an sslmode of disable, require, verify-ca or verify-full (allow and"
            + " prefer would go on in clear text)",
        "operator.token must be set to at least 16 characters when database.url is set");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "mysql://u:hush@h/d",
        "postgresql://h/d",
        "postgresql://u:hush@h",
        "postgresql://u:hush@h/",
        "postgresql://u:hush@h:0/d",
        "postgresql://u:hush@h:65536/d",
        "postgresql://u:hush%4@h/d",
        "postgresql://u:hush%zz@h/d",
        "postgresql://u:hush@h/d#sslmode=require",
        "postgresql://u:hu@sh@h/d",
        "hush",
      })
  void anotherFormOfDatabaseUrlIsRefusedWithoutShowingIt(String url) {
    env.put("STEELYARD_DATABASE_URL", url);
    env.put("STEELYARD_OPERATOR_TOKEN", TOKEN);

    assertThatThrownBy(this::load)
        .isInstanceOf(ConfigException.class)
        .hasMessageStartingWith("database.url must have the form postgresql://")
        .hasMessageNotContaining("hush");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "ftp://h/v1",
        "http:///v1",
        "http://u:hush@h/v1",
        "http://h/a|b",
        "http://h/%zz",
        "h"
      })
  void whereTracesGoMustBeAnAddress(String endpoint) {
    env.put("STEELYARD_TRACING_ENDPOINT", endpoint);
    refusedWith(
        "tracing.endpoint must be the http or https address of a collector, such as"
            + " http://127.0.0.1:4318/v1/traces");
  }

  @Test
  void aHeaderForTracesOfSeveralLinesIsRefusedWithoutShowingIt() {
    env.put("STEELYARD_TRACING_AUTHORIZATION", "Bearer hush\n");
    refusedWith(
        "tracing.authorization must be one line of ASCII characters (its value is not shown)");
  }

  @Test
  void aStopIsAnnouncedWhereTheDatabaseIsSomebodysOwn() throws Exception {
    assertThat(load().unreadyMs()).isZero();
    env.put("STEELYARD_DATABASE_URL", "postgresql://u:p@h/d");
    env.put("STEELYARD_OPERATOR_TOKEN", TOKEN);
    assertThat(load().unreadyMs()).isEqualTo(3000);
    env.put("STEELYARD_TIMEOUTS_UNREADY_MS", "0");
    assertThat(load().unreadyMs()).isZero();
    env.put("STEELYARD_TIMEOUTS_UNREADY_MS", "-1");
    refusedWith(
        "timeouts.unreadyMs must be a whole number from 0 to 600000, or left out, not -1"
            + " (environment variable STEELYARD_TIMEOUTS_UNREADY_MS)");
  }

  @Test
  void settingsThatContradictEachOtherAreRefused() {
    env.put("STEELYARD_HTTP_PORT", "9000");
    env.put("STEELYARD_MANAGEMENT_PORT", "9000");
    refusedWith("management.port must differ from http.port, both are 9000");
    env.clear();
    env.put("STEELYARD_INGEST_BUFFERED_EVENTS_MAX", "9999");
    refusedWith(
        "ingest.bufferedEventsMax (9999) must be at least limits.eventsPerBatch (10000), or a full"
            + " batch could never be stored");
    env.clear();
    env.put("STEELYARD_LIMITS_BODY_BYTES_IN_FLIGHT", "67108863");
    refusedWith(
        "limits.bodyBytesPercentPerMerchant (25) of limits.bodyBytesInFlight (67108863) must be at"
            + " least twice limits.bodyBytes (8388608), or a full body could never be read");
    env.clear();
    env.put("STEELYARD_CLUSTER_ENABLED", "true");
    env.put("STEELYARD_CLUSTER_SECRET", "the secret of a cluster");
    refusedWith(
        "database.url must be set when cluster.enabled is true: the nodes share one database");
    env.clear();
    env.put("STEELYARD_DATABASE_PORT", "8081");
    refusedWith("database.port must differ from http.port and management.port, it is 8081");
  }

  @Test
  void aClusterHasASecretOneWayOfDiscoveryAndPortsOfItsOwn() throws Exception {
    env.put("STEELYARD_CLUSTER_ENABLED", "true");
    env.put("STEELYARD_DATABASE_URL", URL);
    env.put("STEELYARD_OPERATOR_TOKEN", TOKEN);
    refusedWith(
        "cluster.secret must be set to at least 16 characters when cluster.enabled is true");
    env.put("STEELYARD_CLUSTER_SECRET", "fifteen letters");
    refusedWith(
        "cluster.secret must be set to at least 16 characters when cluster.enabled is true");
    env.put("STEELYARD_CLUSTER_SECRET", "the secret of a cluster");
    env.put("STEELYARD_CLUSTER_MEMBERS", "10.0.0.1:5701, node-2:5701,[fd00::1]:5701");
    Config config = load();
    assertThat(config.cluster().members())
        .containsExactly("10.0.0.1:5701", "node-2:5701", "[fd00::1]:5701");
    assertThat(config.toString()).doesNotContain("the secret").contains("cluster.secret = ***");
    assertThat(config.cluster().toString()).doesNotContain("the secret");

    refusedWhen(
        "CLUSTER_MEMBERS", "node-2", "cluster.members must be a list of host:port, not \"node-2\"");
    refusedWhen(
        "CLUSTER_MEMBERS",
        "a:70000",
        "cluster.members must be a list of host:port, not \"a:70000\"");
    refusedWhen(
        "CLUSTER_DNS",
        "nodes.example",
        "only one of cluster.members, cluster.dns and cluster.kubernetesService may be set");
    refusedWhen(
        "CLUSTER_EVENT_BUS_PORT",
        "5701",
        "cluster.eventBusPort must differ from cluster.port, both are 5701");
    refusedWhen(
        "HTTP_PORT",
        "5702",
        "cluster.port and cluster.eventBusPort must differ from http.port and management.port, one"
            + " is 5702");
    refusedWhen(
        "CLUSTER_HOST",
        "0.0.0.0",
        "cluster.host must be the one address that other nodes reach this one at, not 0.0.0.0");
    refusedWhen(
        "CLUSTER_TLS_KEY",
        "key.pem",
        "cluster.tls.certificate, cluster.tls.key and cluster.tls.ca must be set all or none");
  }

  private void refusedWhen(String variable, String value, String line) {
    String before = env.put("STEELYARD_" + variable, value);
    refusedWith(line);
    env.remove("STEELYARD_" + variable);
    if (before != null) {
      env.put("STEELYARD_" + variable, before);
    }
  }

  @Test
  void bothPortsMayBeFreeOnes() throws Exception {
    env.put("STEELYARD_HTTP_PORT", "0");
    env.put("STEELYARD_MANAGEMENT_PORT", "0");

    assertThat(load().management().port()).isZero();
  }

  @ParameterizedTest
  @ValueSource(strings = {"aHVzaA==", "hush!"})
  void anEncryptionKeyIsTheBase64Of32Bytes(String key) throws Exception {
    env.put("STEELYARD_SECURITY_ENCRYPTION_KEY", key);
    refusedWith(
        "security.encryptionKey must be the base64 of exactly 32 bytes (its value is not shown)");

    String fitting = java.util.Base64.getEncoder().encodeToString(new byte[32]);
    env.put("STEELYARD_SECURITY_ENCRYPTION_KEY", fitting);
    assertThat(load().security().encryptionKey()).isEqualTo(fitting);
  }

  @Test
  void aSecretOfTheWrongTypeIsNotShown() throws IOException {
    write("conf/config.json", "{\"operator\": {\"token\": 12345}}");

    refusedWith("operator.token must be a text that is not empty, or left out (conf/config.json)");
  }

  @Test
  void theEffectiveSettingsPrintWithoutTheirSecrets() throws Exception {
    env.put("STEELYARD_DATABASE_URL", URL);
    env.put("STEELYARD_OPERATOR_TOKEN", TOKEN);

    Config config = load();

    assertThat(config.toString())
        .contains("http.port = 8080", "operator.token = ***", "database.url = ***")
        .contains("security.encryptionKey = null")
        .doesNotContain("s3cret", TOKEN);
    assertThat(List.of(config.operator(), config.database(), config.database().parsedUrl()))
        .asString()
        .doesNotContain("s3cret", TOKEN);
  }

  @Test
  void theLogIsForPeopleBesideAnEmbeddedDatabaseAndForProgramsOtherwise() throws Exception {
    assertThat(load().logFormat()).isEqualTo("text");
    env.put("STEELYARD_LOG_FORMAT", "json");
    assertThat(load().logFormat()).isEqualTo("json");
    env.put("STEELYARD_LOG_FORMAT", "");
    env.put("STEELYARD_DATABASE_URL", URL);
    env.put("STEELYARD_OPERATOR_TOKEN", TOKEN);
    assertThat(load().logFormat()).isEqualTo("json");
    env.put("STEELYARD_LOG_FORMAT", "xml");
    refusedWith(
        "log.format must be one of json, text, or left out, not \"xml\""
            + " (environment variable STEELYARD_LOG_FORMAT)");
  }
}

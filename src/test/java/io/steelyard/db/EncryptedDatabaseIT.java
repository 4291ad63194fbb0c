package io.steelyard.db;

import static io.steelyard.support.Merchant.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.steelyard.config.Encryption;
import io.steelyard.config.StartFailure;
import io.steelyard.support.Authority;
import io.steelyard.support.Authority.Issued;
import io.steelyard.support.Merchant;
import io.steelyard.support.PostgresSupport;
import io.steelyard.support.TestApp;
import io.steelyard.support.TestConfig;
import io.vertx.core.Vertx;
import io.vertx.sqlclient.Pool;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A PostgreSQL that lets nobody in but encrypted, and with a password. */
class EncryptedDatabaseIT {
  private static final String PASSWORD = "of-the-encrypted";

  /** One that is starting has said nothing yet, and has no name. */
  private static final String CLEAR =
      """
      SELECT application_name FROM pg_stat_activity JOIN pg_stat_ssl USING (pid)
       WHERE backend_type = 'client backend' AND NOT ssl AND state IS DISTINCT FROM 'starting'
      """;

  private static final String ENCRYPTED =
      """
      SELECT DISTINCT application_name FROM pg_stat_activity JOIN pg_stat_ssl USING (pid)
       WHERE backend_type = 'client backend' AND ssl
      """;
  private static final String OWN = "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()";

  @TempDir private static Path dir;
  private static CrashablePostgres postgres;
  private static Vertx vertx;
  private static Path ours;
  private static Path theirs;

  @BeforeAll
  static void start() throws Exception {
    Authority authority = Authority.create(dir, "ours");
    ours = authority.certificate();
    theirs = Authority.create(dir, "theirs").certificate();
    Issued server = authority.server("database", "san=ip:127.0.0.1");
    Files.setPosixFilePermissions(server.key(), PosixFilePermissions.fromString("rw-------"));
    Path cluster = dir.resolve("cluster");
    postgres =
        CrashablePostgres.start(
            new CrashablePostgres.Place(
                Files.createDirectories(Path.of("target", "faults", "programs")).toAbsolutePath(),
                dir,
                cluster,
                null),
            Map.of(
                "ssl", "on",
                "ssl_cert_file", server.certificate().toString(),
                "ssl_key_file", server.key().toString()));
    PostgresSupport.execute(postgres.endpoint(), "ALTER ROLE postgres PASSWORD '" + PASSWORD + "'");
    Files.writeString(
        cluster.resolve("pg_hba.conf"), "hostssl all all 127.0.0.1/32 scram-sha-256\n");
    PostgresSupport.execute(postgres.endpoint(), "SELECT pg_reload_conf()");
    vertx = Vertx.vertx();
  }

  @AfterAll
  static void stop() {
    vertx.close().await();
    postgres.close();
  }

  private static Endpoint at(String host, Encryption.Mode mode, Path rootCert) {
    Endpoint admin = postgres.endpoint();
    Encryption encryption = new Encryption(mode, rootCert == null ? null : rootCert.toString());
    return new Endpoint(host, admin.port(), "postgres", "postgres", PASSWORD, encryption);
  }

  /** Whether the session that asks is encrypted. */
  private static boolean encrypted(Endpoint endpoint) throws Exception {
    Pool pool = new Pools(TestConfig.with(Map.of()).database(), endpoint).api(vertx);
    try {
      return pool.query(OWN)
          .execute()
          .map(rows -> rows.iterator().next().getBoolean(0))
          .await(20, TimeUnit.SECONDS);
    } finally {
      pool.close().await();
    }
  }

  private static void isLetIn(Endpoint endpoint) throws Exception {
    FirstConnection.await(endpoint, 20_000);
    assertThat(PostgresSupport.column(endpoint, OWN)).containsExactly("t");
    assertThat(encrypted(endpoint)).isTrue();
  }

  private static void goesNoFurther(Endpoint endpoint) {
    assertThatThrownBy(() -> FirstConnection.await(endpoint, 20_000))
        .isInstanceOf(StartFailure.class)
        .hasMessageStartingWith(
            "the connection to the database at %s:%d cannot be encrypted as sslmode %s demands (database.url): "
                .formatted(endpoint.host(), endpoint.port(), endpoint.encryption().mode().text()));
    assertThatThrownBy(() -> encrypted(endpoint)).hasMessageContaining("SSL handshake failed");
  }

  private static String url(String query) {
    Endpoint admin = postgres.endpoint();
    return "postgresql://postgres:%s@127.0.0.1:%d/postgres?%s"
        .formatted(PASSWORD, admin.port(), query);
  }

  @Test
  void everySessionOfTheServiceIsEncrypted() throws Exception {
    Endpoint watching = at("127.0.0.1", Encryption.Mode.VERIFY_FULL, ours);
    String secured = url("sslmode=verify-full&sslrootcert=" + ours);
    try (TestApp app = TestApp.start(postgres.endpoint(), Map.of("database.url", secured))) {
      Merchant merchant = app.merchant("test", Merchant.CATALOG);
      String customer = merchant.customerId("acme");
      TestApp.Call event =
          merchant
              .call("POST", "/external/event")
              .json(merchant.event(customer, "api.request", 1, "key"));

      List<String> pools = List.of("api", "control", "ingest", "aggregation", "billing");
      List<String> names = pools.stream().map("steelyard-"::concat).toList();
      Set<String> seen = new TreeSet<>();
      eventually(
          () -> {
            merchant.get("/external/customers/" + customer);
            event.send(202);
            assertThat(PostgresSupport.column(watching, CLEAR)).isEmpty();
            seen.addAll(PostgresSupport.column(watching, ENCRYPTED));
            return seen;
          },
          all -> all.containsAll(names));
      assertThat(seen).containsAll(names);
    }
  }

  @Test
  void whoDoesNotAskForItIsRefusedByTheDatabase() {
    assertThatExceptionOfType(StartFailure.class)
        .isThrownBy(
            () -> FirstConnection.await(at("127.0.0.1", Encryption.Mode.DISABLE, null), 20_000))
        .withMessageContaining("refuses the connection (database.url): ")
        .withMessageContaining("no encryption");
  }

  @Test
  void onlyTheAuthorityThatIsNamedIsTrusted() throws Exception {
    isLetIn(at("127.0.0.1", Encryption.Mode.VERIFY_CA, ours));
    isLetIn(at("127.0.0.1", Encryption.Mode.VERIFY_FULL, ours));
    goesNoFurther(at("127.0.0.1", Encryption.Mode.VERIFY_CA, theirs));
    goesNoFurther(at("127.0.0.1", Encryption.Mode.VERIFY_FULL, theirs));
    isLetIn(at("127.0.0.1", Encryption.Mode.REQUIRE, null)); // which trusts anybody
  }

  /** The certificate is of 127.0.0.1 and of nobody else. */
  @Test
  void onlyVerifyFullWantsTheCertificateOfTheHost() throws Exception {
    isLetIn(at("localhost", Encryption.Mode.VERIFY_CA, ours));
    goesNoFurther(at("localhost", Encryption.Mode.VERIFY_FULL, ours));
  }

  @Test
  void aDatabaseThatDoesNotEncryptIsNotTalkedTo() {
    Endpoint clear = PostgresSupport.emptyDatabase();
    assumeThat(PostgresSupport.column(clear, "SHOW ssl")).containsExactly("off");
    Endpoint asked =
        new Endpoint(
            clear.host(),
            clear.port(),
            clear.database(),
            clear.user(),
            clear.password(),
            new Encryption(Encryption.Mode.REQUIRE, null));

    assertThatThrownBy(() -> FirstConnection.await(asked, 20_000))
        .isInstanceOf(StartFailure.class)
        .hasMessageContaining("cannot be encrypted as sslmode require demands");
    assertThatThrownBy(() -> encrypted(asked)).isNotInstanceOf(AssertionError.class);
  }

  @Test
  void aFileWithoutACertificateEndsTheStart() throws Exception {
    Path empty = Files.writeString(dir.resolve("empty.pem"), "");
    Path other = Files.writeString(dir.resolve("other.pem"), "no certificate");
    for (Map.Entry<Path, String> bad :
        Map.of(
                dir.resolve("nowhere.pem"),
                "is not a readable file",
                empty,
                "holds no certificate in PEM",
                other,
                "holds no certificate in PEM")
            .entrySet()) {
      String secured = url("sslmode=verify-ca&sslrootcert=" + bad.getKey());
      assertThatThrownBy(
              () -> Database.open(TestConfig.with(external(secured)).database(), Path.of("")))
          .isInstanceOf(StartFailure.class)
          .hasMessage(
              "database.url names " + bad.getKey() + " as sslrootcert, which " + bad.getValue());
    }
  }

  private static Map<String, String> external(String url) {
    return Map.of("database.url", url, "operator.token", TestApp.OPERATOR_TOKEN);
  }
}

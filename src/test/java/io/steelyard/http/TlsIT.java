package io.steelyard.http;

import static io.steelyard.support.Merchant.eventually;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.steelyard.support.Authority;
import io.steelyard.support.Authority.Issued;
import io.steelyard.support.RawHttp;
import io.steelyard.support.TestApp;
import io.steelyard.support.TestConfig;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.SocketTimeoutException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpClient.Version;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.cert.X509Certificate;
import java.time.Duration;
import java.util.Map;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Certificates of both ports: who is answered, by which protocol, and how they are renewed. */
class TlsIT {
  @TempDir private static Path dir;
  private static Authority ours;
  private static Authority others;
  private static Issued client;
  private static Issued stranger;
  private static Issued renewed;
  private static Path shownCertificate;
  private static Path shownKey;
  private static TestApp app;

  @BeforeAll
  static void start() throws IOException {
    ours = Authority.create(dir, "ours");
    others = Authority.create(dir, "others");
    client = ours.client("client");
    stranger = others.client("stranger");
    renewed = ours.server("renewed");
    Issued server = ours.server("server");
    shownCertificate = Files.copy(server.certificate(), dir.resolve("shown.crt"));
    shownKey = Files.copy(server.key(), dir.resolve("shown.key"));
    app =
        TestApp.start(
            Map.of(
                "http.port", TestConfig.freePort(),
                "http.tls.certificatePath", shownCertificate.toString(),
                "http.tls.keyPath", shownKey.toString(),
                "http.tls.clientAuth", "request",
                "http.tls.clientCaPath", ours.certificate().toString(),
                "http.tls.reloadMs", "100",
                "management.tls.certificatePath", server.certificate().toString(),
                "management.tls.keyPath", server.key().toString(),
                "management.tls.clientAuth", "required",
                "management.tls.clientCaPath", ours.certificate().toString()));
  }

  @AfterAll
  static void stop() {
    app.close();
  }

  private static HttpResponse<String> get(
      SSLContext context, Version version, int port, String path) throws Exception {
    try (HttpClient http =
        HttpClient.newBuilder()
            .sslContext(context)
            .version(version)
            .connectTimeout(Duration.ofSeconds(5))
            .build()) {
      HttpRequest request =
          HttpRequest.newBuilder(URI.create("https://127.0.0.1:" + port + path))
              .timeout(Duration.ofSeconds(20))
              .build();
      return http.send(request, BodyHandlers.ofString());
    }
  }

  private static HttpResponse<String> docs(SSLContext context, Version version) throws Exception {
    return get(context, version, app.port(), "/openapi.json");
  }

  private static HttpResponse<String> live(SSLContext context) throws Exception {
    return get(context, Version.HTTP_2, app.managementPort(), "/health/live");
  }

  @Test
  void bothVersionsOfHttpAreAnsweredByAlpn() throws Exception {
    SSLContext anybody = ours.client(null, null);

    assertThat(docs(anybody, Version.HTTP_2))
        .returns(200, HttpResponse::statusCode)
        .returns(Version.HTTP_2, HttpResponse::version);
    assertThat(docs(anybody, Version.HTTP_1_1))
        .returns(200, HttpResponse::statusCode)
        .returns(Version.HTTP_1_1, HttpResponse::version);
  }

  @ParameterizedTest
  @ValueSource(strings = {"TLSv1.2", "TLSv1.3"})
  void theTwoLatestProtocolsAreSpoken(String protocol) throws Exception {
    try (SSLSocket socket = socket(app.port(), ours.client(null, null))) {
      socket.setEnabledProtocols(new String[] {protocol});
      socket.startHandshake();
      assertThat(socket.getSession().getProtocol()).isEqualTo(protocol);
    }
  }

  private static SSLSocket socket(int port, SSLContext context) throws IOException {
    SSLSocket socket =
        (SSLSocket)
            context.getSocketFactory().createSocket(InetAddress.getByName("127.0.0.1"), port);
    socket.setSoTimeout(10_000);
    return socket;
  }

  @Test
  void whereOneIsRequiredOnlyOurCertificateIsLetIn() throws Exception {
    assertThat(live(ours.client(ours, client)))
        .returns(200, HttpResponse::statusCode)
        .returns(Version.HTTP_2, HttpResponse::version);
    assertThatThrownBy(() -> live(ours.client(null, null))).isInstanceOf(IOException.class);
    assertThatThrownBy(() -> live(ours.client(others, stranger))).isInstanceOf(IOException.class);
  }

  @Test
  void whereOneIsRequestedNoneIsLetInAndAForeignOneIsNot() throws Exception {
    assertThat(docs(ours.client(null, null), Version.HTTP_2).statusCode()).isEqualTo(200);
    assertThat(docs(ours.client(ours, client), Version.HTTP_2).statusCode()).isEqualTo(200);
    SSLContext foreign = ours.client(others, stranger);
    assertThatThrownBy(() -> docs(foreign, Version.HTTP_2)).isInstanceOf(IOException.class);
  }

  @Test
  void clearTextIsNotAnswered() {
    try (RawHttp http = RawHttp.connect(app.port())) {
      http.send("GET /openapi.json HTTP/1.1\nHost: localhost\n\n");
      assertThatThrownBy(http::read)
          .isInstanceOf(UncheckedIOException.class)
          .rootCause()
          .isNotInstanceOf(SocketTimeoutException.class);
    }
  }

  @Test
  void aRenewedCertificateIsTakenUpAndAHalfRenewedOneIsNot() throws Exception {
    assertThat(nameShown()).isEqualTo("CN=server");

    replace(renewed.certificate(), shownCertificate); // the key is not there yet
    assertThat(eventually(TlsIT::reloadsFailed, count -> count > 0)).isPositive();
    assertThat(nameShown()).isEqualTo("CN=server");

    replace(renewed.key(), shownKey);
    assertThat(eventually(TlsIT::nameShown, "CN=renewed"::equals)).isEqualTo("CN=renewed");
    assertThat(docs(ours.client(null, null), Version.HTTP_2).version()).isEqualTo(Version.HTTP_2);
  }

  private static void replace(Path source, Path target) throws IOException {
    Path beside = Files.copy(source, target.resolveSibling(target.getFileName() + ".new"));
    Files.move(beside, target, StandardCopyOption.ATOMIC_MOVE);
  }

  private static String nameShown() throws IOException {
    try (SSLSocket socket = socket(app.port(), ours.client(null, null))) {
      socket.startHandshake();
      X509Certificate shown = (X509Certificate) socket.getSession().getPeerCertificates()[0];
      return shown.getSubjectX500Principal().getName();
    }
  }

  private static double reloadsFailed() {
    return app.service()
        .metrics()
        .get("steelyard.tls.reload.failed")
        .tag("port", "http")
        .counter()
        .count();
  }

  @Test
  void theMetricsTellWhenACertificateEnds() throws Exception {
    String metrics =
        get(ours.client(ours, client), Version.HTTP_1_1, app.managementPort(), "/metrics").body();

    assertThat(metrics)
        .contains("steelyard_tls_certificate_end_seconds{port=\"http\"}")
        .contains("steelyard_tls_certificate_end_seconds{port=\"management\"}");
  }

  @Test
  void theServiceNamesItsPortsByTheirScheme() {
    assertThat(app.service().publicUrl()).isEqualTo("https://127.0.0.1:" + app.port());
    assertThat(app.service().managementUrl())
        .isEqualTo("https://127.0.0.1:" + app.managementPort());
  }
}

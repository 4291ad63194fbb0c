package io.steelyard.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.steelyard.Service;
import io.steelyard.config.StartFailure;
import io.steelyard.config.Tls;
import io.steelyard.support.Authority;
import io.steelyard.support.Authority.Issued;
import io.steelyard.support.TestConfig;
import io.vertx.core.Vertx;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Certificate files that cannot be used, and what the operator is told of them. */
class TlsFilesTest {
  @TempDir private static Path dir;
  private static Vertx vertx;
  private static Authority authority;
  private static Issued server;
  private static Issued other;
  private static Path text;

  @BeforeAll
  static void open() throws IOException {
    vertx = Vertx.vertx();
    authority = Authority.create(dir, "ours");
    server = authority.server("server");
    other = authority.server("other");
    text = Files.writeString(dir.resolve("notes.txt"), "not a certificate");
  }

  @AfterAll
  static void close() {
    vertx.close().await();
  }

  private static TlsFiles files(Path certificate, Path key, Path clientCa) {
    return new TlsFiles(
        vertx,
        "http",
        new Tls(
            certificate.toString(),
            key.toString(),
            clientCa == null ? "none" : "required",
            clientCa == null ? null : clientCa.toString(),
            60_000));
  }

  private static void refused(TlsFiles files, String line) {
    assertThatThrownBy(files::check).isInstanceOf(StartFailure.class).hasMessage(line);
  }

  @Test
  void whatWasIssuedForTheServerIsTaken() {
    TlsFiles.Content content =
        files(server.certificate(), server.key(), authority.certificate()).read();

    assertThat(content)
        .isEqualTo(files(server.certificate(), server.key(), authority.certificate()).read());
    assertThat(content.options().getEnabledSecureTransportProtocols())
        .containsExactlyInAnyOrder("TLSv1.2", "TLSv1.3");
    assertThat(content.toString()).doesNotContain("PRIVATE KEY");
  }

  @Test
  void theSettingWhoseFileCannotBeUsedIsNamed() {
    Path missing = dir.resolve("missing.crt");
    refused(
        files(missing, server.key(), null),
        "http.tls.certificatePath names " + missing + ", which is not a readable file");
    refused(
        files(text, server.key(), null),
        "http.tls.certificatePath names " + text + ", which holds no certificate in PEM");
    refused(
        files(server.certificate(), dir, null),
        "http.tls.keyPath names " + dir + ", which is not a readable file");
    refused(
        files(server.certificate(), text, null),
        "http.tls.keyPath names " + text + ", which holds no unencrypted private key in PEM");
    refused(
        files(server.certificate(), other.key(), null),
        "http.tls.keyPath names %s, which is not the key of the certificate in %s (http.tls.certificatePath)"
            .formatted(other.key(), server.certificate()));
    refused(
        files(server.certificate(), server.key(), text),
        "http.tls.clientCaPath names " + text + ", which holds no certificate in PEM");
  }

  @Test
  void theStartStopsBeforeItLooksForTheDatabase() {
    Path missing = dir.resolve("missing.key");
    Map<String, String> settings =
        Map.of(
            "database.url",
            "postgresql://nobody:none@127.0.0.1:1/none",
            "operator.token",
            "a-token-of-more-than-16-characters",
            "management.tls.certificatePath",
            server.certificate().toString(),
            "management.tls.keyPath",
            missing.toString());

    assertThatThrownBy(() -> Service.start(TestConfig.with(settings)).await(30, TimeUnit.SECONDS))
        .isInstanceOf(StartFailure.class)
        .hasMessage("management.tls.keyPath names " + missing + ", which is not a readable file");
  }
}

package io.steelyard.db;

import io.steelyard.config.Encryption;
import io.steelyard.config.StartFailure;
import io.vertx.core.net.ClientSSLOptions;
import io.vertx.core.net.PemTrustOptions;
import io.vertx.pgclient.PgConnectOptions;
import io.vertx.pgclient.SslMode;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;

/** What {@link Encryption} means to the client of the pools, and what it needs to begin. */
final class Encrypting {
  private static final String PEM = "-----BEGIN CERTIFICATE-----";

  private Encrypting() {}

  static PgConnectOptions apply(Encryption encryption, PgConnectOptions options) {
    ClientSSLOptions tls = new ClientSSLOptions();
    return switch (encryption.mode()) {
      case DISABLE -> options.setSslMode(SslMode.DISABLE);
      case REQUIRE ->
          options
              .setSslMode(SslMode.REQUIRE)
              .setSslOptions(tls.setTrustAll(true).setHostnameVerificationAlgorithm(""));
      case VERIFY_CA ->
          options
              .setSslMode(SslMode.VERIFY_CA)
              .setSslOptions(trusting(encryption, tls).setHostnameVerificationAlgorithm(""));
      case VERIFY_FULL ->
          options
              .setSslMode(SslMode.VERIFY_FULL)
              .setSslOptions(trusting(encryption, tls).setHostnameVerificationAlgorithm("HTTPS"));
    };
  }

  private static ClientSSLOptions trusting(Encryption encryption, ClientSSLOptions tls) {
    String file = Path.of(encryption.rootCert()).toAbsolutePath().toString();
    return tls.setTrustOptions(new PemTrustOptions().addCertPath(file));
  }

  /** Fails with a {@link StartFailure} where the authorities' certificates cannot be read. */
  static void check(Encryption encryption) {
    if (encryption.rootCert() == null) {
      return;
    }
    try {
      byte[] content = Files.readAllBytes(Path.of(encryption.rootCert()));
      // The factory would also take what is not PEM, which the pools do not.
      if (!new String(content, StandardCharsets.ISO_8859_1).contains(PEM)
          || CertificateFactory.getInstance("X.509")
              .generateCertificates(new ByteArrayInputStream(content))
              .isEmpty()) {
        throw new StartFailure(named(encryption) + "holds no certificate in PEM");
      }
    } catch (IOException | InvalidPathException e) {
      throw new StartFailure(named(encryption) + "is not a readable file", e);
    } catch (CertificateException e) {
      throw new StartFailure(named(encryption) + "holds no certificate in PEM", e);
    }
  }

  private static String named(Encryption encryption) {
    return "database.url names %s as sslrootcert, which ".formatted(encryption.rootCert());
  }
}

package io.steelyard.web;

import io.steelyard.config.StartFailure;
import io.steelyard.config.Tls;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.ClientAuth;
import io.vertx.core.net.PemKeyCertOptions;
import io.vertx.core.net.PemTrustOptions;
import io.vertx.core.net.ServerSSLOptions;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.PrivateKey;
import java.security.PublicKey;
import java.security.Signature;
import java.security.cert.CertificateException;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.List;
import java.util.Set;
import javax.net.ssl.KeyManager;
import javax.net.ssl.X509KeyManager;

/** Reads a port's certificate, its key and the authorities of its clients. Blocking. */
public final class TlsFiles {
  private static final Set<String> PROTOCOLS = Set.of("TLSv1.2", "TLSv1.3");
  private static final byte[] PROBE = "steelyard".getBytes(StandardCharsets.US_ASCII);

  private final Vertx vertx;
  private final String prefix;
  private final Tls tls;

  /**
   * @param section of the settings, {@code http} or {@code management}
   * @param tls enabled
   */
  public TlsFiles(Vertx vertx, String section, Tls tls) {
    this.vertx = vertx;
    this.prefix = section + ".tls.";
    this.tls = tls;
  }

  /**
   * What the files held at one moment; equal where nothing has changed.
   *
   * @param clientCa null where clients are not asked for a certificate
   * @param notAfter when the port's own certificate ends
   */
  record Content(
      Buffer certificate, Buffer key, ClientAuth clientAuth, Buffer clientCa, Instant notAfter) {
    ServerSSLOptions options() {
      ServerSSLOptions options =
          new ServerSSLOptions()
              .setKeyCertOptions(pem(certificate, key))
              .setClientAuth(clientAuth)
              .setUseAlpn(true)
              .setEnabledSecureTransportProtocols(PROTOCOLS);
      if (clientCa != null) {
        options.setTrustOptions(new PemTrustOptions().addCertValue(clientCa));
      }
      return options;
    }

    /** The key is a secret. */
    @Override
    public String toString() {
      return "certificate until " + notAfter;
    }
  }

  /**
   * Whether a server could be started with them.
   *
   * @throws StartFailure that names the setting whose file cannot be used, and why
   */
  public void check() {
    read();
  }

  /** As {@link #check}, with what they hold. */
  Content read() {
    Buffer certificate = bytes("certificatePath", tls.certificatePath());
    Buffer key = bytes("keyPath", tls.keyPath());
    X509Certificate own = certificates("certificatePath", tls.certificatePath(), certificate);
    checkKey(own, certificate, key);
    Buffer clientCa = null;
    if (tls.clientCaPath() != null) {
      clientCa = bytes("clientCaPath", tls.clientCaPath());
      certificates("clientCaPath", tls.clientCaPath(), clientCa);
    }
    ClientAuth clientAuth = ClientAuth.valueOf(tls.clientAuth().toUpperCase(java.util.Locale.ROOT));
    return new Content(certificate, key, clientAuth, clientCa, own.getNotAfter().toInstant());
  }

  private Buffer bytes(String setting, String path) {
    try {
      return Buffer.buffer(Files.readAllBytes(Path.of(path)));
    } catch (IOException | InvalidPathException e) {
      throw refused(setting, path, "is not a readable file", e);
    }
  }

  /** The first of them. */
  private X509Certificate certificates(String setting, String path, Buffer pem) {
    try {
      return (X509Certificate)
          CertificateFactory.getInstance("X.509")
              .generateCertificates(new java.io.ByteArrayInputStream(pem.getBytes()))
              .iterator()
              .next();
    } catch (CertificateException | java.util.NoSuchElementException e) {
      throw refused(setting, path, "holds no certificate in PEM", e);
    }
  }

  private void checkKey(X509Certificate own, Buffer certificate, Buffer key) {
    PrivateKey usable;
    try {
      usable = privateKey(own, pem(certificate, key));
    } catch (Exception e) { // of the reader of PEM, which throws of any kind
      throw refused("keyPath", tls.keyPath(), "holds no unencrypted private key in PEM", e);
    }
    try {
      if (usable != null && belongTogether(usable, own.getPublicKey())) {
        return;
      }
    } catch (GeneralSecurityException e) {
      // a key of another kind than the certificate's: refused below
    }
    throw refused(
        "keyPath",
        tls.keyPath(),
        "is not the key of the certificate in %s (%scertificatePath)"
            .formatted(tls.certificatePath(), prefix),
        null);
  }

  /** As the handshake will see it; null where it would find none for the certificate. */
  private PrivateKey privateKey(X509Certificate own, PemKeyCertOptions pem) throws Exception {
    for (KeyManager manager : pem.getKeyManagerFactory(vertx).getKeyManagers()) {
      X509KeyManager keys = (X509KeyManager) manager;
      String[] aliases = keys.getServerAliases(own.getPublicKey().getAlgorithm(), null);
      for (String alias : aliases == null ? new String[0] : aliases) {
        return keys.getPrivateKey(alias);
      }
    }
    return null;
  }

  private static boolean belongTogether(PrivateKey key, PublicKey certified)
      throws GeneralSecurityException {
    String algorithm =
        switch (key.getAlgorithm()) {
          case "RSA" -> "SHA256withRSA";
          case "EC" -> "SHA256withECDSA";
          default -> key.getAlgorithm();
        };
    Signature signature = Signature.getInstance(algorithm);
    signature.initSign(key);
    signature.update(PROBE);
    byte[] signed = signature.sign();
    signature.initVerify(certified);
    signature.update(PROBE);
    return signature.verify(signed);
  }

  private static PemKeyCertOptions pem(Buffer certificate, Buffer key) {
    return new PemKeyCertOptions().setCertValues(List.of(certificate)).setKeyValues(List.of(key));
  }

  private StartFailure refused(String setting, String path, String why, Exception cause) {
    return new StartFailure("%s%s names %s, which %s".formatted(prefix, setting, path, why), cause);
  }
}

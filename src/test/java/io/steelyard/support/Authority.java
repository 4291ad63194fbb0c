package io.steelyard.support;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.Key;
import java.security.KeyStore;
import java.security.Principal;
import java.security.PrivateKey;
import java.security.cert.Certificate;
import java.security.cert.X509Certificate;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.KeyManager;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509ExtendedKeyManager;
import javax.net.ssl.X509KeyManager;

/**
 * An authority and what it has issued, made with the JDK's keytool, as the PEM files that are
 * configured.
 */
public final class Authority {
  private static final String PASSWORD = "certificates";
  private static final String SERVER_NAMES = "san=ip:127.0.0.1,dns:localhost";

  private final Path dir;
  private final String name;
  private final Path store;

  private Authority(Path dir, String name) {
    this.dir = dir;
    this.name = name;
    this.store = dir.resolve(name + ".p12");
  }

  /**
   * @param dir for its files, which are named after it
   * @param name of this one among others of {@code dir}
   */
  public static Authority create(Path dir, String name) {
    Authority authority = new Authority(dir, name);
    authority.generate("ca", "CN=" + name, "-ext", "bc:c", "-validity", "30");
    authority.write("ca");
    return authority;
  }

  /** What was issued: files in PEM. */
  public record Issued(String alias, Path certificate, Path key) {}

  /** For a server on this machine, with an elliptic key. */
  public Issued server(String alias) {
    return server(alias, SERVER_NAMES);
  }

  /**
   * @param names of the server, as keytool takes them
   */
  public Issued server(String alias, String names) {
    generate(alias, "CN=" + alias, "-signer", "ca", "-ext", names, "-validity", "20");
    return write(alias);
  }

  /** For a client. */
  public Issued client(String alias) {
    generate(alias, "CN=" + alias, "-signer", "ca", "-ext", "eku=clientAuth", "-validity", "20");
    return write(alias);
  }

  /** The authority's own certificate in PEM. */
  public Path certificate() {
    return dir.resolve(name + "-ca.crt");
  }

  private void generate(String alias, String distinguishedName, String... more) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "keytool").toString());
    command.addAll(List.of("-genkeypair", "-alias", alias, "-dname", distinguishedName));
    command.addAll(List.of("-keyalg", "EC", "-groupname", "secp256r1"));
    command.addAll(List.of("-keystore", store.toString(), "-storepass", PASSWORD));
    command.addAll(List.of(more));
    try {
      Process keytool = new ProcessBuilder(command).redirectErrorStream(true).start();
      String output = new String(keytool.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      if (!keytool.waitFor(60, TimeUnit.SECONDS) || keytool.exitValue() != 0) {
        throw new IllegalStateException("keytool: " + output);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException(e);
    }
  }

  private Issued write(String alias) {
    try {
      KeyStore keys = keys();
      StringBuilder chain = new StringBuilder();
      for (Certificate certificate : keys.getCertificateChain(alias)) {
        chain.append(pem("CERTIFICATE", certificate.getEncoded()));
      }
      Key key = keys.getKey(alias, PASSWORD.toCharArray());
      Path certificateFile = dir.resolve(name + "-" + alias + ".crt");
      Path keyFile = dir.resolve(name + "-" + alias + ".key");
      Files.writeString(certificateFile, chain);
      Files.writeString(keyFile, pem("PRIVATE KEY", key.getEncoded()));
      return new Issued(alias, certificateFile, keyFile);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
  }

  private static String pem(String kind, byte[] der) {
    return "-----BEGIN %s-----\n%s\n-----END %s-----\n"
        .formatted(kind, Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(der), kind);
  }

  private KeyStore keys() throws IOException, GeneralSecurityException {
    KeyStore keys = KeyStore.getInstance("PKCS12");
    try (InputStream in = Files.newInputStream(store)) {
      keys.load(in, PASSWORD.toCharArray());
    }
    return keys;
  }

  /**
   * What a client of this authority's servers needs.
   *
   * @param issuer of {@code own}; may be another authority
   * @param own shown to a server that asks, whichever authorities it names; null for nothing
   */
  public SSLContext client(Authority issuer, Issued own) {
    try {
      KeyStore trusted = KeyStore.getInstance("PKCS12");
      trusted.load(null, null);
      trusted.setCertificateEntry("ca", keys().getCertificate("ca"));
      TrustManagerFactory trust =
          TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
      trust.init(trusted);
      SSLContext context = SSLContext.getInstance("TLS");
      context.init(
          own == null ? null : issuer.managers(own.alias()), trust.getTrustManagers(), null);
      return context;
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
  }

  private KeyManager[] managers(String alias) throws IOException, GeneralSecurityException {
    KeyStore one = KeyStore.getInstance("PKCS12");
    one.load(null, null);
    char[] password = PASSWORD.toCharArray();
    KeyStore keys = keys();
    one.setKeyEntry(alias, keys.getKey(alias, password), password, keys.getCertificateChain(alias));
    KeyManagerFactory managers =
        KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
    managers.init(one, password);
    X509KeyManager known = (X509KeyManager) managers.getKeyManagers()[0];
    return new KeyManager[] {new Insisting(known, known.getClientAliases("EC", null)[0])};
  }

  /** The JDK's own shows nothing where the server does not name the issuer. */
  private static final class Insisting extends X509ExtendedKeyManager {
    private final X509KeyManager known;
    private final String alias;

    private Insisting(X509KeyManager known, String alias) {
      this.known = known;
      this.alias = alias;
    }

    @Override
    public String chooseEngineClientAlias(String[] types, Principal[] issuers, SSLEngine engine) {
      return alias;
    }

    @Override
    public String chooseClientAlias(String[] types, Principal[] issuers, Socket socket) {
      return alias;
    }

    @Override
    public String[] getClientAliases(String type, Principal[] issuers) {
      return new String[] {alias};
    }

    @Override
    public String[] getServerAliases(String type, Principal[] issuers) {
      return new String[0];
    }

    @Override
    public String chooseServerAlias(String type, Principal[] issuers, Socket socket) {
      return null;
    }

    @Override
    public X509Certificate[] getCertificateChain(String name) {
      return known.getCertificateChain(name);
    }

    @Override
    public PrivateKey getPrivateKey(String name) {
      return known.getPrivateKey(name);
    }
  }
}

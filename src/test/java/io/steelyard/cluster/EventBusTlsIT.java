package io.steelyard.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.steelyard.config.Config.Cluster;
import io.steelyard.config.Config.ClusterTls;
import io.steelyard.support.TestConfig;
import io.vertx.core.Vertx;
import io.vertx.core.VertxOptions;
import io.vertx.core.eventbus.Message;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** With PEM files, nodes whose certificate is of the CA talk to each other, and no other does. */
class EventBusTlsIT {
  private static final char[] PASSWORD = "password".toCharArray();

  @TempDir Path dir;
  private final List<Vertx> nodes = new ArrayList<>();
  private final List<Membership> memberships = new ArrayList<>();

  @AfterEach
  void leave() {
    nodes.reversed().forEach(node -> node.close().await());
    memberships.reversed().forEach(Membership::leave);
  }

  /** A certificate that is its own CA, as {@code name.crt} and {@code name.key}. */
  private void certificate(String name) throws Exception {
    Path store = dir.resolve(name + ".p12");
    Process keytool =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
                "-genkeypair",
                "-alias",
                name,
                "-keyalg",
                "EC",
                "-dname",
                "CN=" + name,
                "-ext",
                "bc:c",
                "-validity",
                "2",
                "-storetype",
                "PKCS12",
                "-keystore",
                store.toString(),
                "-storepass",
                new String(PASSWORD))
            .redirectErrorStream(true)
            .start();
    String said = new String(keytool.getInputStream().readAllBytes());
    assertThat(keytool.waitFor()).as(said).isZero();
    KeyStore keys = KeyStore.getInstance(store.toFile(), PASSWORD);
    pem(name + ".crt", "CERTIFICATE", keys.getCertificate(name).getEncoded());
    pem(name + ".key", "PRIVATE KEY", keys.getKey(name, PASSWORD).getEncoded());
  }

  private void pem(String file, String type, byte[] content) throws IOException {
    Files.writeString(
        dir.resolve(file),
        "-----BEGIN %s-----\n%s\n-----END %s-----\n"
            .formatted(type, Base64.getMimeEncoder().encodeToString(content), type));
  }

  private Vertx node(String certificate, String ca, List<String> members, int port)
      throws Exception {
    ClusterTls tls =
        new ClusterTls(
            dir.resolve(certificate + ".crt").toString(),
            dir.resolve(certificate + ".key").toString(),
            dir.resolve(ca + ".crt").toString());
    int eventBusPort = Integer.parseInt(TestConfig.freePort());
    Membership membership =
        Membership.join(
            new Cluster(
                true,
                "steelyard",
                "127.0.0.1",
                port,
                eventBusPort,
                members,
                null,
                null,
                null,
                "the secret of the tests",
                tls));
    memberships.add(membership);
    Vertx node =
        Vertx.builder()
            .with(new VertxOptions().setEventBusOptions(membership.eventBus()))
            .withClusterManager(membership.vertxManager())
            .buildClustered()
            .await(30, TimeUnit.SECONDS);
    nodes.add(node);
    return node;
  }

  private static String asked(Vertx node, String address) throws TimeoutException {
    return node.eventBus()
        .<String>request(address, "ping")
        .map(Message::body)
        .await(3, TimeUnit.SECONDS);
  }

  /** The first handshakes may take longer than a connection may, on a machine at its limits. */
  private static String eventuallyAsked(Vertx node, String address) throws TimeoutException {
    for (int attempt = 1; attempt < 10; attempt++) {
      try {
        return asked(node, address);
      } catch (TimeoutException e) {
        // once more; the last one tells
      }
    }
    return asked(node, address);
  }

  @Test
  void nodesOfTheCaTalkAndAStrangerWithTheSecretDoesNot() throws Exception {
    certificate("ours");
    certificate("theirs");
    int port = Integer.parseInt(TestConfig.freePort());
    List<String> members = List.of("127.0.0.1:" + port);
    Vertx first = node("ours", "ours", List.of(), port);
    Vertx second = node("ours", "ours", members, Integer.parseInt(TestConfig.freePort()));
    first
        .eventBus()
        .consumer("first", message -> message.reply("pong"))
        .completion()
        .await(5, TimeUnit.SECONDS);

    assertThat(eventuallyAsked(second, "first")).isEqualTo("pong");

    // trusts ours, but is not of our CA itself
    Vertx stranger = node("theirs", "ours", members, Integer.parseInt(TestConfig.freePort()));
    assertThatThrownBy(() -> asked(stranger, "first")).isInstanceOf(Exception.class);
    assertThat(eventuallyAsked(second, "first")).isEqualTo("pong");
  }
}

package io.steelyard.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.hazelcast.config.Config;
import io.steelyard.config.Config.Cluster;
import io.steelyard.config.Config.ClusterTls;
import io.steelyard.config.StartFailure;
import io.steelyard.support.TestConfig;
import java.io.IOException;
import java.net.Inet4Address;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NetworkInterface;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Who may be a member, and where it listens. */
class MembershipIT {
  private static final String SECRET = "the secret of the tests";
  private final List<Membership> joined = new ArrayList<>();

  @AfterEach
  void leave() {
    joined.reversed().forEach(Membership::leave);
  }

  private static Cluster config(
      String host, int port, String secret, List<String> members, String dns) {
    return new Cluster(
        true,
        "steelyard",
        host,
        port,
        port + 1,
        members,
        dns,
        null,
        null,
        secret,
        new ClusterTls(null, null, null));
  }

  private Membership join(Cluster config) {
    Membership membership = Membership.join(config);
    joined.add(membership);
    return membership;
  }

  private static int freePort() {
    return Integer.parseInt(TestConfig.freePort());
  }

  @Test
  void whoKnowsTheSecretIsAMemberAndWhoDoesNotIsNone() {
    int port = freePort();
    Membership first = join(config("127.0.0.1", port, SECRET, List.of(), null));
    List<String> members = List.of("127.0.0.1:" + port);

    assertThatThrownBy(
            () -> join(config("127.0.0.1", freePort(), "another secret, as long", members, null)))
        .isInstanceOf(StartFailure.class)
        .hasMessageContaining("127.0.0.1:" + port)
        .hasMessageContaining("does not share cluster.secret");
    assertThat(first.members()).isEqualTo(1);
    Membership second = join(config("127.0.0.1", freePort(), SECRET, members, null));

    assertThat(second.members()).isEqualTo(2);
    assertThat(first.members()).isEqualTo(2);
    assertThat(List.of(first.joined(), second.joined())).containsOnly(true);
    second.leave();
    assertThat(second.joined()).isFalse();
    assertThat(second.members()).isZero();
  }

  @Test
  void aStrangerOnThePortGetsNoWordOfTheProtocols() throws Exception {
    int port = freePort();
    Membership member = join(config("127.0.0.1", port, SECRET, List.of(), null));

    for (String greeting : List.of("HZC", "CP2", "GET /hazelcast/health HTTP/1.1\r\n\r\n")) {
      try (Socket socket = new Socket()) {
        socket.connect(new InetSocketAddress("127.0.0.1", port), 1000);
        socket.setSoTimeout(10_000);
        byte[] long128 = new byte[128];
        byte[] text = greeting.getBytes(StandardCharsets.US_ASCII);
        System.arraycopy(text, 0, long128, 0, text.length);
        socket.getOutputStream().write(long128);
        // the number and the proof of the handshake, and then the end
        assertThat(socket.getInputStream().readNBytes(65)).hasSizeLessThanOrEqualTo(64);
      } catch (IOException e) {
        assertThat(e).hasMessageContaining("reset");
      }
    }
    assertThat(member.members()).isEqualTo(1);
  }

  @Test
  void itListensOnTheGivenAddressOnlyAndIsFoundByName() throws Exception {
    String other = addressBesideLoopback();
    int port = freePort();
    Membership first = join(config("127.0.0.1", port, SECRET, List.of(), null));
    assertThatThrownBy(() -> new Socket(other, port).close())
        .isInstanceOf(IOException.class)
        .hasMessageContaining("refused");

    Membership second = join(config(other, port, SECRET, List.of(), "localhost"));

    assertThat(second.members()).isEqualTo(2);
    assertThat(first.members()).isEqualTo(2);
  }

  private static String addressBesideLoopback() throws IOException {
    Optional<String> address =
        NetworkInterface.networkInterfaces()
            .flatMap(NetworkInterface::inetAddresses)
            .filter(each -> each instanceof Inet4Address && !each.isLoopbackAddress())
            .map(InetAddress::getHostAddress)
            .findFirst();
    assumeTrue(address.isPresent(), "a machine with no address of its own");
    return address.get();
  }

  @Test
  void nothingIsOnThatNobodyUses() {
    Config settings =
        HazelcastSettings.of(
            config("127.0.0.1", 5701, SECRET, List.of("a:5701", "b:5701"), null), "node");

    var network = settings.getNetworkConfig();
    assertThat(network.getJoin().getMulticastConfig().isEnabled()).isFalse();
    assertThat(network.getJoin().getAutoDetectionConfig().isEnabled()).isFalse();
    assertThat(network.getJoin().getTcpIpConfig().getMembers()).containsExactly("a:5701", "b:5701");
    assertThat(network.isPortAutoIncrement()).isFalse();
    assertThat(network.getMemcacheProtocolConfig().isEnabled()).isFalse();
    assertThat(settings.getJetConfig().isEnabled()).isFalse();
    assertThat(settings.getProperty("hazelcast.phone.home.enabled")).isEqualTo("false");
    assertThat(settings.getMapConfig("__vertx.nodeInfo").getBackupCount()).isEqualTo(2);
    assertThat(settings.getMapConfig("__vertx.haInfo").getBackupCount()).isEqualTo(2);
    assertThat(settings.getMultiMapConfig("__vertx.subs").getBackupCount()).isEqualTo(2);
  }
}

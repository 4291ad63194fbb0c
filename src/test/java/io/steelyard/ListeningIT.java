package io.steelyard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.steelyard.db.Endpoint;
import io.steelyard.db.LentPrograms;
import io.steelyard.support.ClusterSettings;
import io.steelyard.support.Merchant;
import io.steelyard.support.PostgresSupport;
import io.steelyard.support.ServiceProcess;
import io.steelyard.support.TestApp;
import io.steelyard.support.TestConfig;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Where a running process and its own database take TCP connections, as the kernel tells it: at the
 * addresses and ports that are configured, and no others. Only Linux tells it.
 */
class ListeningIT {
  private static final String HTTP = "127.0.0.2";
  private static final String MANAGEMENT = "127.0.0.3";
  private static final String LOOPBACK = "127.0.0.1";
  private static final String LISTENS = "0A";

  @TempDir Path dir;

  /** A line of {@code /proc/PID/net/tcp} and the like. */
  private record Socket(String local, String state, String inode) {
    static Socket of(String line) {
      String[] columns = line.strip().split("\\s+");
      return new Socket(columns[1], columns[3], columns[9]);
    }

    /** {@code 127.0.0.1:8080}; the kernel writes words of four bytes, the last byte first. */
    String address() {
      byte[] bytes = HexFormat.of().parseHex(local.substring(0, local.indexOf(':')));
      byte[] inOrder = new byte[bytes.length];
      for (int i = 0; i < bytes.length; i++) {
        inOrder[i] = bytes[i ^ 3];
      }
      int port = Integer.parseInt(local.substring(local.indexOf(':') + 1), 16);
      try {
        return InetAddress.getByAddress(inOrder).getHostAddress() + ":" + port;
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  @BeforeEach
  void onLinux() {
    assumeTrue(Files.exists(Path.of("/proc/self/net/tcp")), "NOT RUN: no /proc here");
  }

  private static Set<String> listening(long pid) {
    Path process = Path.of("/proc", Long.toString(pid));
    Set<String> own = sockets(process.resolve("fd"));
    return Stream.of("tcp", "tcp6")
        .flatMap(table -> table(process, table))
        .filter(socket -> socket.state().equals(LISTENS) && own.contains(socket.inode()))
        .map(Socket::address)
        .collect(Collectors.toCollection(TreeSet::new));
  }

  /** The process of the database that has its data there. */
  private static long postmaster(Path data) throws IOException {
    try (Stream<Path> files = Files.find(data, 3, (file, is) -> file.endsWith("postmaster.pid"))) {
      return Long.parseLong(Files.readAllLines(files.findAny().orElseThrow()).getFirst().strip());
    }
  }

  /** The inodes of the sockets that a process has open. */
  private static Set<String> sockets(Path descriptors) {
    try (Stream<Path> all = Files.list(descriptors)) {
      return all.map(ListeningIT::target)
          .filter(target -> target.startsWith("socket:["))
          .map(target -> target.substring("socket:[".length(), target.length() - 1))
          .collect(Collectors.toSet());
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static String target(Path link) {
    try {
      return Files.readSymbolicLink(link).toString();
    } catch (NoSuchFileException e) {
      return ""; // closed meanwhile
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private static Stream<Socket> table(Path process, String name) {
    try {
      return Files.readAllLines(process.resolve("net").resolve(name)).stream()
          .skip(1)
          .map(Socket::of);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** With ports of its own, at addresses of their own. */
  private static Map<String, String> ports() {
    return new HashMap<>(
        Map.of(
            "http.host",
            HTTP,
            "http.port",
            TestConfig.freePort(),
            "management.host",
            MANAGEMENT,
            "management.port",
            TestConfig.freePort()));
  }

  private static List<String> addresses(Map<String, String> settings) {
    return List.of(
        HTTP + ":" + settings.get("http.port"), MANAGEMENT + ":" + settings.get("management.port"));
  }

  @Test
  void aProcessAloneListensForItsApisOnly() {
    Map<String, String> settings = ports();

    try (ServiceProcess process =
        ServiceProcess.start(dir, PostgresSupport.migratedDatabase(), settings)) {
      assertThat(listening(process.pid())).containsExactlyInAnyOrderElementsOf(addresses(settings));
    }
  }

  @Test
  void itsOwnDatabaseListensOnTheLoopbackAddress() throws Exception {
    LentPrograms.to(dir.resolve("data"));
    Map<String, String> settings = ports();
    settings.put("database.port", TestConfig.freePort());
    settings.put("demo.enabled", "false");
    ServiceProcess process =
        ServiceProcess.start(
            dir, Map.of("STEELYARD_OPERATOR_TOKEN", TestApp.OPERATOR_TOKEN), settings);
    try {
      assertThat(listening(process.pid())).containsExactlyInAnyOrderElementsOf(addresses(settings));
      assertThat(listening(postmaster(dir.resolve("data"))))
          .containsExactly(LOOPBACK + ":" + settings.get("database.port"));
    } finally {
      process.stop(); // and its database
    }
  }

  @Test
  void aNodeListensForTheOthersAtItsAddressOnly() throws Exception {
    Endpoint database = PostgresSupport.migratedDatabase();
    List<Map<String, String>> settings = new ArrayList<>();
    for (Map<String, String> joining : ClusterSettings.of(2)) {
      settings.add(ports());
      settings.getLast().putAll(joining);
    }
    List<ServiceProcess> nodes = new ArrayList<>();
    try {
      for (Map<String, String> each : settings) {
        nodes.add(ServiceProcess.start(dir, database, each));
      }
      for (int i = 0; i < nodes.size(); i++) {
        ServiceProcess node = nodes.get(i);
        assertThat(Merchant.eventually(() -> node.ready().body(), body -> isOneOfTwo(body)))
            .matches(ListeningIT::isOneOfTwo);
        List<String> expected = new ArrayList<>(addresses(settings.get(i)));
        expected.add(LOOPBACK + ":" + settings.get(i).get("cluster.port"));
        expected.add(LOOPBACK + ":" + settings.get(i).get("cluster.eventBusPort"));
        assertThat(listening(node.pid())).containsExactlyInAnyOrderElementsOf(expected);
      }
    } finally {
      nodes.forEach(ServiceProcess::close);
    }
  }

  private static boolean isOneOfTwo(String ready) {
    return ready.contains("\"members\":2");
  }
}

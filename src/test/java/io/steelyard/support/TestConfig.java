package io.steelyard.support;

import io.steelyard.config.Config;
import io.steelyard.config.ConfigLoader;
import io.vertx.core.Vertx;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.BindException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;

/** The default configuration with free ports and stops at once, and what a test wants different. */
public final class TestConfig {
  private static final int FIRST_PORT = 20_000;
  private static final int PORTS = 12_000;

  /** Begins elsewhere in each process. */
  private static final AtomicInteger NEXT_PORT =
      new AtomicInteger((int) (ProcessHandle.current().pid() * 101 % PORTS));

  private TestConfig() {}

  /**
   * @param settings dotted names and their values, over the defaults of the jar
   */
  public static Config with(Map<String, String> settings) {
    Properties properties = new Properties();
    properties.putAll(Map.of("http.port", "0", "management.port", "0", "timeouts.unreadyMs", "0"));
    properties.putAll(settings);
    Vertx vertx = Vertx.vertx();
    try {
      // a working directory without conf/config.json: not the developer's own settings
      return ConfigLoader.load(vertx, Map.of(), properties, Path.of("src"))
          .await(10, TimeUnit.SECONDS);
    } catch (TimeoutException e) {
      throw new IllegalStateException(e);
    } finally {
      vertx.close().await();
    }
  }

  /**
   * For {@code http.port}: of instances with 0 each takes a port of its own. Handed out once, and
   * below those that systems give to connections and to whoever asks for any, so that it is still
   * free when it is bound.
   */
  public static String freePort() {
    while (true) {
      int port = FIRST_PORT + NEXT_PORT.getAndIncrement() % PORTS;
      try (ServerSocket socket = new ServerSocket(port, 1, InetAddress.getByName("127.0.0.1"))) {
        return Integer.toString(socket.getLocalPort());
      } catch (BindException e) {
        continue; // somebody else's
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
  }

  /** With an embedded database in {@code dataDir}. */
  public static Config embedded(Path dataDir) {
    return with(Map.of("database.dataDir", dataDir.toString()));
  }
}

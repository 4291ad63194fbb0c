package io.steelyard;

import io.steelyard.config.Config;
import io.steelyard.config.StartFailure;
import io.steelyard.web.TlsFiles;
import io.steelyard.web.WebServer;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;

/** Whether the configured ports can be had, with the certificates they are to show. */
final class Ports {
  private static final String EVENT_BUS_PORT = "cluster.eventBusPort";

  private Ports() {}

  /** Refuses at once, before a database is started for a process that nobody could reach. */
  static Future<?> check(Vertx vertx, Config config) {
    return Platform.detached(
        vertx.executeBlocking(
            () -> {
              check(vertx, WebServer.Port.of(config.http()));
              check(vertx, WebServer.Port.of(config.management()));
              if (config.cluster().enabled()) {
                checkCluster(config.cluster());
              }
              return null;
            }));
  }

  private static void check(Vertx vertx, WebServer.Port port) {
    check(port.section(), port.section() + ".port", port.host(), port.number());
    if (port.tls().enabled()) {
      new TlsFiles(vertx, port.section(), port.tls()).check();
    }
  }

  private static void checkCluster(Config.Cluster cluster) {
    check("cluster", "cluster.port", cluster.host(), cluster.port());
    check("cluster", EVENT_BUS_PORT, cluster.host(), cluster.eventBusPort());
  }

  private static void check(String section, String portKey, String host, int port) {
    InetSocketAddress address = new InetSocketAddress(host, port);
    if (address.isUnresolved()) {
      throw new StartFailure(section + ".host \"" + host + "\" is not a known host name");
    }
    try (ServerSocket probe = new ServerSocket()) {
      probe.setReuseAddress(true); // as the server does: an old connection's port is free
      probe.bind(address);
    } catch (IOException e) {
      throw taken(section, portKey, host, port, e);
    }
  }

  /** The same line for the moment of listening, when another process was faster. */
  static RuntimeException explained(Deployment.Failed failed, Config config) {
    boolean http = failed.entry().name().equals(Deployment.HTTP);
    boolean management = failed.entry().name().equals(Deployment.MANAGEMENT);
    if ((http || management) && failed.getCause() instanceof IOException cause) {
      return http
          ? taken("http", "http.port", config.http().host(), config.http().port(), cause)
          : taken(
              "management",
              "management.port",
              config.management().host(),
              config.management().port(),
              cause);
    }
    return failed;
  }

  /** Likewise for the event bus of a cluster's node. */
  static Throwable explained(Throwable error, Config config) {
    Config.Cluster cluster = config.cluster();
    return error instanceof IOException cause
        ? taken("cluster", EVENT_BUS_PORT, cluster.host(), cluster.eventBusPort(), cause)
        : error;
  }

  private static StartFailure taken(
      String section, String portKey, String host, int port, IOException cause) {
    String reason = String.valueOf(cause.getMessage());
    return new StartFailure(
        reason.contains("in use")
            ? "%s %d on %s is already in use".formatted(portKey, port, host)
            : "cannot listen on %s:%d (%s.host, %s): %s"
                .formatted(host, port, section, portKey, reason),
        cause);
  }
}

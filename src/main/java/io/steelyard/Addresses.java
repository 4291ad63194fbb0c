package io.steelyard;

import io.steelyard.config.Config;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/** Where the verticles of this process listen, and how a client reaches them. For all threads. */
final class Addresses {
  private final Config config;
  private final Map<String, Integer> ports = new ConcurrentHashMap<>();

  Addresses(Config config) {
    this.config = config;
  }

  /**
   * A verticle has begun to listen.
   *
   * @param port the one it got, where the configuration says 0
   */
  void listening(String verticle, int port) {
    ports.put(verticle, port);
  }

  boolean listens(String verticle) {
    return ports.containsKey(verticle);
  }

  /** Throws {@link IllegalArgumentException} where it does not listen. */
  int port(String verticle) {
    Integer port = ports.get(verticle);
    if (port == null) {
      throw new IllegalArgumentException("no port is known of \"" + verticle + "\"");
    }
    return port;
  }

  /** Of the external API: as configured, or on this machine. */
  String publicUrl() {
    String configured = config.http().publicUrl();
    if (configured != null) {
      return configured;
    }
    // another process listens where this one does not: on the same port, as far as is known here
    int port = ports.getOrDefault(Deployment.HTTP, config.http().port());
    return config.http().tls().url(config.http().host(), port);
  }

  /** Of the management port, on this machine. */
  String managementUrl() {
    String host = config.management().host();
    return config.management().tls().url(host, port(Deployment.MANAGEMENT));
  }
}

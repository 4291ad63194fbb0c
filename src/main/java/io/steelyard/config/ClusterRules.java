package io.steelyard.config;

import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** What must hold where {@code cluster.enabled} is. */
final class ClusterRules {
  private static final int SECRET_CHARS_MIN = 16;
  private static final Pattern MEMBER =
      Pattern.compile("(\\[[0-9a-fA-F:]+]|[^\\s:\\[\\]]+):(\\d{1,5})");
  private static final Set<String> WILDCARDS = Set.of("0.0.0.0", "::", "[::]");
  private static final int PORT_MAX = 65_535;

  private ClusterRules() {}

  static void check(Config config) {
    Config.Cluster cluster = config.cluster();
    if (config.database().embedded()) {
      throw new ConfigException(
          "database.url must be set when cluster.enabled is true: the nodes share one database");
    }
    if (cluster.secret() == null || cluster.secret().length() < SECRET_CHARS_MIN) {
      throw new ConfigException(
          "cluster.secret must be set to at least %d characters when cluster.enabled is true"
              .formatted(SECRET_CHARS_MIN));
    }
    if (WILDCARDS.contains(cluster.host())) {
      throw new ConfigException(
          "cluster.host must be the one address that other nodes reach this one at, not "
              + cluster.host());
    }
    ports(config);
    discovery(cluster);
    tls(cluster.tls());
  }

  private static void ports(Config config) {
    int port = config.cluster().port();
    int eventBusPort = config.cluster().eventBusPort();
    if (port == eventBusPort) {
      throw new ConfigException(
          "cluster.eventBusPort must differ from cluster.port, both are %d".formatted(port));
    }
    for (int other : List.of(config.http().port(), config.management().port())) {
      if (other == port || other == eventBusPort) {
        throw new ConfigException(
            "cluster.port and cluster.eventBusPort must differ from http.port and management.port, one is %d"
                .formatted(other));
      }
    }
  }

  private static void discovery(Config.Cluster cluster) {
    for (String member : cluster.members()) {
      var form = MEMBER.matcher(member);
      int port = form.matches() ? Integer.parseInt(form.group(2)) : 0;
      if (port < 1 || port > PORT_MAX) {
        throw new ConfigException(
            "cluster.members must be a list of host:port, not \"" + member + '"');
      }
    }
    long ways =
        Stream.of(
                !cluster.members().isEmpty(),
                cluster.dns() != null,
                cluster.kubernetesService() != null)
            .filter(given -> given)
            .count();
    if (ways > 1) {
      throw new ConfigException(
          "only one of cluster.members, cluster.dns and cluster.kubernetesService may be set");
    }
  }

  private static void tls(Config.ClusterTls tls) {
    long given =
        Arrays.asList(tls.certificate(), tls.key(), tls.ca()).stream()
            .filter(Objects::nonNull)
            .count();
    if (given != 0 && given != 3) {
      throw new ConfigException(
          "cluster.tls.certificate, cluster.tls.key and cluster.tls.ca must be set all or none");
    }
  }
}

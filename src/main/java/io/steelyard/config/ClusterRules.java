package io.steelyard.config;

import java.util.Arrays;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** What must hold where {@code cluster.enabled} is. */
final class ClusterRules {
  private static final String ENABLED = "cluster.enabled";
  private static final int SECRET_CHARS_MIN = 16;
  private static final Pattern MEMBER =
      Pattern.compile("(\\[[0-9a-fA-F:]+]|[^\\s:\\[\\]]+):(\\d{1,5})");
  private static final Set<String> WILDCARDS = Set.of("0.0.0.0", "::", "[::]");
  private static final int PORT_MAX = 65_535;

  private ClusterRules() {}

  static void check(Config config, Faults faults) {
    Config.Cluster cluster = config.cluster();
    faults.rule(
        config.database().embedded(),
        "database.url must be set when cluster.enabled is true: the nodes share one database",
        "database.url",
        ENABLED);
    faults.rule(
        cluster.secret() == null || cluster.secret().length() < SECRET_CHARS_MIN,
        "cluster.secret must be set to at least %d characters when cluster.enabled is true"
            .formatted(SECRET_CHARS_MIN),
        "cluster.secret",
        ENABLED);
    faults.rule(
        WILDCARDS.contains(cluster.host()),
        "cluster.host must be the one address that other nodes reach this one at, not "
            + cluster.host(),
        "cluster.host",
        ENABLED);
    ports(config, faults);
    discovery(cluster, faults);
    tls(cluster.tls(), faults);
  }

  private static void ports(Config config, Faults faults) {
    int port = config.cluster().port();
    int eventBusPort = config.cluster().eventBusPort();
    faults.rule(
        port == eventBusPort,
        "cluster.eventBusPort must differ from cluster.port, both are %d".formatted(port),
        "cluster.port",
        "cluster.eventBusPort",
        ENABLED);
    Map<String, Integer> others =
        Map.of("http.port", config.http().port(), "management.port", config.management().port());
    for (String name : new TreeSet<>(others.keySet())) {
      int other = others.get(name);
      faults.rule(
          other == port || other == eventBusPort,
          "cluster.port and cluster.eventBusPort must differ from http.port and management.port, one is %d"
              .formatted(other),
          name,
          other == port ? "cluster.port" : "cluster.eventBusPort",
          ENABLED);
    }
  }

  private static void discovery(Config.Cluster cluster, Faults faults) {
    for (String member : cluster.members()) {
      var form = MEMBER.matcher(member);
      int port = form.matches() ? Integer.parseInt(form.group(2)) : 0;
      faults.rule(
          port < 1 || port > PORT_MAX,
          "cluster.members must be a list of host:port, not \"" + member + '"',
          "cluster.members",
          ENABLED);
    }
    long ways =
        Stream.of(
                !cluster.members().isEmpty(),
                cluster.dns() != null,
                cluster.kubernetesService() != null)
            .filter(given -> given)
            .count();
    faults.rule(
        ways > 1,
        "only one of cluster.members, cluster.dns and cluster.kubernetesService may be set",
        "cluster.members",
        "cluster.dns",
        "cluster.kubernetesService",
        ENABLED);
  }

  private static void tls(Config.ClusterTls tls, Faults faults) {
    long given =
        Arrays.asList(tls.certificate(), tls.key(), tls.ca()).stream()
            .filter(Objects::nonNull)
            .count();
    faults.rule(
        given != 0 && given != 3,
        "cluster.tls.certificate, cluster.tls.key and cluster.tls.ca must be set all or none",
        "cluster.tls",
        ENABLED);
  }
}

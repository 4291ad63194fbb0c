package io.steelyard.cluster;

import com.hazelcast.config.Config;
import com.hazelcast.config.JoinConfig;
import com.hazelcast.config.KubernetesConfig;
import com.hazelcast.config.MapConfig;
import com.hazelcast.config.MultiMapConfig;
import com.hazelcast.config.NetworkConfig;
import com.hazelcast.config.SocketInterceptorConfig;
import io.steelyard.config.Config.Cluster;
import io.steelyard.config.StartFailure;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.util.Map;

/** Every setting of Hazelcast that is not its default, and some that are but must not change. */
final class HazelcastSettings {
  /** By which Vert.x tells its nodes. */
  static final String NODE_ID = "__vertx.nodeId";

  // Two nodes may go down at once and the register of the event bus is still whole.
  private static final int BACKUPS = 2;

  // The master may die meanwhile; with the default of 5 the comer is told only then.
  private static final int MASTER_ASKED_SECONDS = 1;

  private static final Map<String, String> PROPERTIES =
      Map.ofEntries(
          // on the given address only
          Map.entry("hazelcast.socket.bind.any", "false"),
          Map.entry("hazelcast.socket.server.bind.any", "false"),
          Map.entry("hazelcast.socket.connect.timeout.seconds", "2"),
          // a silent node is out after 10 s; less would take a long pause for a death
          Map.entry("hazelcast.heartbeat.interval.seconds", "1"),
          Map.entry("hazelcast.max.no.heartbeat.seconds", "10"),
          // the parts of a split cluster look for each other every 10 s
          Map.entry("hazelcast.merge.first.run.delay.seconds", "10"),
          Map.entry("hazelcast.merge.next.run.delay.seconds", "10"),
          Map.entry("hazelcast.operation.call.timeout.millis", "5000"),
          // partitions move as soon as somebody has come, not after those who may come within 5 s
          Map.entry("hazelcast.wait.seconds.before.join", "0"),
          Map.entry("hazelcast.graceful.shutdown.max.wait", "4"),
          // the service stops it, after Vert.x
          Map.entry("hazelcast.shutdownhook.enabled", "false"),
          Map.entry("hazelcast.phone.home.enabled", "false"),
          // its warnings of memory and processor are metrics here
          Map.entry("hazelcast.health.monitoring.level", "OFF"),
          Map.entry("hazelcast.logging.type", "slf4j"));

  private HazelcastSettings() {}

  static Config of(Cluster cluster, String nodeId) {
    Config config = new Config();
    config.setClusterName(cluster.name());
    PROPERTIES.forEach(config::setProperty);
    config.getMemberAttributeConfig().setAttribute(NODE_ID, nodeId);
    network(config.getNetworkConfig(), cluster);
    config.getJetConfig().setEnabled(false);
    config.getMetricsConfig().setEnabled(false);
    config.addMultiMapConfig(
        new MultiMapConfig("__vertx.subs")
            .setBackupCount(BACKUPS)
            .setValueCollectionType(MultiMapConfig.ValueCollectionType.SET));
    config.addMapConfig(new MapConfig("__vertx.haInfo").setBackupCount(BACKUPS));
    config.addMapConfig(new MapConfig("__vertx.nodeInfo").setBackupCount(BACKUPS));
    return config;
  }

  private static void network(NetworkConfig network, Cluster cluster) {
    network.setPort(cluster.port()).setPortAutoIncrement(false);
    network.getInterfaces().setEnabled(true).addInterface(address(cluster.host()));
    network.getMemcacheProtocolConfig().setEnabled(false);
    // the interceptor itself is given by GuardedNode: by this, connections ask for it
    network.setSocketInterceptorConfig(
        new SocketInterceptorConfig().setEnabled(true).setClassName(Handshake.class.getName()));
    discovery(network.getJoin(), cluster);
  }

  private static String address(String host) {
    try {
      return InetAddress.getByName(host).getHostAddress();
    } catch (UnknownHostException e) {
      throw new StartFailure("cluster.host \"" + host + "\" is not a known host name", e);
    }
  }

  private static void discovery(JoinConfig join, Cluster cluster) {
    // not of sockets: for how long a comer asks the master it was told of before it asks who is
    join.getTcpIpConfig().setConnectionTimeoutSeconds(MASTER_ASKED_SECONDS);
    join.getAutoDetectionConfig().setEnabled(false);
    join.getMulticastConfig().setEnabled(false);
    if (cluster.dns() != null || cluster.kubernetesService() != null) {
      join.setKubernetesConfig(kubernetes(cluster));
    } else {
      join.getTcpIpConfig().setEnabled(true).setMembers(cluster.members());
    }
  }

  private static KubernetesConfig kubernetes(Cluster cluster) {
    KubernetesConfig config = new KubernetesConfig();
    config.setEnabled(true);
    config.setProperty("service-port", Integer.toString(cluster.port()));
    if (cluster.dns() != null) {
      config.setProperty("service-dns", cluster.dns());
    } else {
      config.setProperty("service-name", cluster.kubernetesService());
      if (cluster.kubernetesNamespace() != null) {
        config.setProperty("namespace", cluster.kubernetesNamespace());
      }
    }
    return config;
  }
}

package io.steelyard.cluster;

import com.hazelcast.cluster.ClusterState;
import com.hazelcast.cluster.MembershipAdapter;
import com.hazelcast.cluster.MembershipEvent;
import com.hazelcast.core.HazelcastException;
import com.hazelcast.core.HazelcastInstance;
import com.hazelcast.instance.impl.HazelcastInstanceFactory;
import io.steelyard.config.Config.Cluster;
import io.steelyard.config.Config.ClusterTls;
import io.steelyard.config.StartFailure;
import io.vertx.core.eventbus.EventBusOptions;
import io.vertx.core.http.ClientAuth;
import io.vertx.core.net.PemKeyCertOptions;
import io.vertx.core.net.PemTrustOptions;
import io.vertx.core.spi.cluster.ClusterManager;
import io.vertx.spi.cluster.hazelcast.HazelcastClusterManager;
import java.util.UUID;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** This process as a member of the cluster. What it does blocks, but for telling how it is. */
public final class Membership {
  private static final Logger LOG = LoggerFactory.getLogger(Membership.class);
  private static final int JOINS_MAX = 3;
  private static final int CONNECT_TIMEOUT_MS = 2000;
  private static final int PING_INTERVAL_MS = 1000;
  private static final int PING_REPLY_MS = 2000;

  private final HazelcastInstance hazelcast;
  private final Cluster config;
  private final String nodeId;

  private Membership(HazelcastInstance hazelcast, Cluster config, String nodeId) {
    this.hazelcast = hazelcast;
    this.config = config;
    this.nodeId = nodeId;
  }

  /**
   * Joins the nodes that there are, or waits for others as the first; or a {@link StartFailure}.
   */
  public static Membership join(Cluster config) {
    String nodeId = UUID.randomUUID().toString();
    Handshake handshake = new Handshake(new ClusterSecret(config.secret()).keyFor("membership"));
    Membership joined = new Membership(join(config, nodeId, handshake), config, nodeId);
    if (handshake.stranger() != null) { // alone, although somebody is there: not what was meant
      joined.leave();
      throw new StartFailure(
          "cannot join the cluster: %s does not share cluster.secret"
              .formatted(handshake.stranger()));
    }
    return joined;
  }

  private static HazelcastInstance join(Cluster config, String nodeId, Handshake handshake) {
    for (int attempt = 1; attempt <= JOINS_MAX; attempt++) {
      GuardedNode node = new GuardedNode(handshake);
      HazelcastInstance hazelcast;
      try {
        hazelcast =
            HazelcastInstanceFactory.newHazelcastInstance(
                HazelcastSettings.of(config, nodeId), "steelyard-" + nodeId, node);
      } catch (HazelcastException | IllegalStateException e) {
        throw new StartFailure("cannot join the cluster: " + e.getMessage(), e);
      }
      if (node.knowsMaster()) {
        return hazelcast;
      }
      LOG.warn("Was let into the cluster, and does not know by whom: joins again");
      hazelcast.getLifecycleService().terminate(); // it holds nothing yet
    }
    throw new StartFailure(
        "cannot join the cluster: it was let in " + JOINS_MAX + " times and knew no master then");
  }

  public String nodeId() {
    return nodeId;
  }

  public ClusterManager vertxManager() {
    return new HazelcastClusterManager(hazelcast);
  }

  public EventBusOptions eventBus() {
    EventBusOptions options =
        new EventBusOptions()
            .setHost(config.host())
            .setPort(config.eventBusPort())
            .setConnectTimeout(CONNECT_TIMEOUT_MS)
            .setClusterPingInterval(PING_INTERVAL_MS)
            .setClusterPingReplyInterval(PING_REPLY_MS)
            .setTrustAll(false);
    ClusterTls tls = config.tls();
    if (tls.enabled()) {
      options
          .setSsl(true)
          .setClientAuth(ClientAuth.REQUIRED)
          .setKeyCertOptions(
              new PemKeyCertOptions().setCertPath(tls.certificate()).setKeyPath(tls.key()))
          .setTrustOptions(new PemTrustOptions().addCertPath(tls.ca()));
    }
    return options;
  }

  /** Tells the node id of every member that leaves or is taken for dead, on a thread of its own. */
  public void onLeft(Consumer<String> told) {
    hazelcast
        .getCluster()
        .addMembershipListener(
            new MembershipAdapter() {
              @Override
              public void memberRemoved(MembershipEvent event) {
                told.accept(event.getMember().getAttribute(HazelcastSettings.NODE_ID));
              }
            });
  }

  public boolean joined() {
    return hazelcast.getLifecycleService().isRunning()
        && hazelcast.getCluster().getClusterState() == ClusterState.ACTIVE;
  }

  /** This one included; 0 once it has left. */
  public int members() {
    return hazelcast.getLifecycleService().isRunning()
        ? hazelcast.getCluster().getMembers().size()
        : 0;
  }

  /** After the Vert.x that runs on it was closed. */
  public void leave() {
    hazelcast.shutdown();
  }
}

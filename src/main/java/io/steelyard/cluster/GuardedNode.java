package io.steelyard.cluster;

import com.hazelcast.instance.EndpointQualifier;
import com.hazelcast.instance.impl.DefaultNodeContext;
import com.hazelcast.instance.impl.DefaultNodeExtension;
import com.hazelcast.instance.impl.Node;
import com.hazelcast.instance.impl.NodeExtension;
import com.hazelcast.nio.MemberSocketInterceptor;

/**
 * A member of Hazelcast whose connections all begin with the handshake. The open-source edition has
 * the place for an interceptor on every socket, but its stock extension puts none there; this one
 * does. It leans on classes that are not of the published interface, and so on the pinned version.
 */
final class GuardedNode extends DefaultNodeContext {
  private final Handshake handshake;
  private Node node;

  GuardedNode(Handshake handshake) {
    this.handshake = handshake;
  }

  @Override
  public NodeExtension createNodeExtension(Node created) {
    node = created;
    return new Guarded(created, handshake);
  }

  /**
   * Whether a member that has joined takes the others' changes. It does not where it was let in
   * while it asked whether it may be the master: then it forgets who is.
   */
  boolean knowsMaster() {
    return node.getClusterService().getMasterAddress() != null;
  }

  private static final class Guarded extends DefaultNodeExtension {
    private final Handshake handshake;

    private Guarded(Node node, Handshake handshake) {
      super(node);
      this.handshake = handshake;
    }

    @Override
    public MemberSocketInterceptor getSocketInterceptor(EndpointQualifier endpoint) {
      return handshake;
    }
  }
}

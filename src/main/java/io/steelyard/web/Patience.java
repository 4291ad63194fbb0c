package io.steelyard.web;

import io.netty.channel.ChannelPipeline;
import io.netty.handler.timeout.IdleStateHandler;
import io.netty.util.Attribute;
import io.netty.util.AttributeKey;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.net.impl.ConnectionBase;
import java.util.concurrent.TimeUnit;

/**
 * Keeps a connection that waits for a slow answer from being closed as a silent one. To Vert.x a
 * connection is silent when nothing goes over it, also while a request of it is being worked on.
 */
final class Patience {
  /** The name that Vert.x gives to its own. */
  private static final String HANDLER = "idle";

  private static final AttributeKey<Awaited> AWAITED = AttributeKey.valueOf("steelyard.awaited");

  private final int idleMs;

  /**
   * @param idleMs after which a connection is closed otherwise
   */
  Patience(int idleMs) {
    this.idleMs = idleMs;
  }

  /** What a connection is waited for: in HTTP/2 it may be several answers at once. */
  private static final class Awaited {
    private int answers;
    private long longestMs;
  }

  /** Lets the connection be silent for as long as the answer may take, and the usual time more. */
  void begin(HttpConnection connection, int timeoutMs) {
    Awaited awaited = awaited(connection);
    awaited.answers++;
    awaited.longestMs = Math.max(awaited.longestMs, timeoutMs);
    closeAfter(connection, idleMs + awaited.longestMs);
  }

  /** After each {@link #begin}, once. */
  void end(HttpConnection connection) {
    Awaited awaited = awaited(connection);
    awaited.answers--;
    if (awaited.answers == 0) {
      awaited.longestMs = 0;
      closeAfter(connection, idleMs);
    }
  }

  private static Awaited awaited(HttpConnection connection) {
    Attribute<Awaited> attribute = ((ConnectionBase) connection).channel().attr(AWAITED);
    attribute.setIfAbsent(new Awaited());
    return attribute.get();
  }

  private static void closeAfter(HttpConnection connection, long silenceMs) {
    ChannelPipeline pipeline = ((ConnectionBase) connection).channel().pipeline();
    if (pipeline.get(HANDLER) != null) { // gone with a closed connection
      pipeline.replace(
          HANDLER, HANDLER, new IdleStateHandler(0, 0, silenceMs, TimeUnit.MILLISECONDS));
    }
  }
}

package io.steelyard.web;

import io.netty.channel.ChannelPipeline;
import io.netty.handler.timeout.IdleStateHandler;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.net.impl.VertxConnection;
import java.util.concurrent.TimeUnit;

/**
 * Keeps a connection that waits for a slow answer from being closed as a silent one. To Vert.x a
 * connection is silent when nothing goes over it, also while a request of it is being worked on.
 */
final class Patience {
  /** The name that Vert.x gives to its own. */
  private static final String HANDLER = "idle";

  private final int idleMs;

  /**
   * @param idleMs after which a connection is closed otherwise
   */
  Patience(int idleMs) {
    this.idleMs = idleMs;
  }

  /** Lets the connection be silent for as long as the answer may take, and the usual time more. */
  void begin(HttpConnection connection, int timeoutMs) {
    closeAfter(connection, (long) idleMs + timeoutMs);
  }

  void end(HttpConnection connection) {
    closeAfter(connection, idleMs);
  }

  private static void closeAfter(HttpConnection connection, long silenceMs) {
    ChannelPipeline pipeline = ((VertxConnection) connection).channel().pipeline();
    if (pipeline.get(HANDLER) != null) { // gone with a closed connection
      pipeline.replace(
          HANDLER, HANDLER, new IdleStateHandler(0, 0, silenceMs, TimeUnit.MILLISECONDS));
    }
  }
}

package io.steelyard.web;

import io.netty.util.AttributeKey;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.net.impl.VertxConnection;

/**
 * Connections whose end an answer has announced. Nothing more is taken from there: after a request
 * that was refused for its framing, it could be anything.
 */
final class Closing {
  private static final AttributeKey<Boolean> ANNOUNCED =
      AttributeKey.valueOf("steelyard.closing-connection");

  private Closing() {}

  static void announce(HttpConnection connection) {
    ((VertxConnection) connection).channel().attr(ANNOUNCED).set(Boolean.TRUE);
  }

  static boolean isAnnounced(HttpConnection connection) {
    return ((VertxConnection) connection).channel().hasAttr(ANNOUNCED);
  }
}

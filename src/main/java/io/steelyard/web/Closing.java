package io.steelyard.web;

import io.netty.util.AttributeKey;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpVersion;
import io.vertx.core.net.impl.ConnectionBase;

/**
 * Connections whose end an answer has announced. Nothing more is taken from there: after a request
 * that was refused for its framing, it could be anything. In HTTP/2 frames tell requests apart
 * whatever they hold, and others are under way on the same connection: only the stream ends.
 */
final class Closing {
  private static final AttributeKey<Boolean> ANNOUNCED =
      AttributeKey.valueOf("steelyard.closing-connection");
  private static final long NO_ERROR = 0;

  private Closing() {}

  /** Says so in the head of the answer to {@code request}, which is still to be sent. */
  static void announce(HttpServerRequest request) {
    if (request.version() != HttpVersion.HTTP_2) { // which knows no such header
      request.response().putHeader(HttpHeaders.CONNECTION, HttpHeaders.CLOSE);
      ((ConnectionBase) request.connection()).channel().attr(ANNOUNCED).set(Boolean.TRUE);
    }
  }

  static boolean isAnnounced(HttpConnection connection) {
    return ((ConnectionBase) connection).channel().hasAttr(ANNOUNCED);
  }

  /** Ends what the request came on. */
  static void end(HttpServerRequest request) {
    if (request.version() != HttpVersion.HTTP_2) {
      request.connection().close();
    } else if (!request.isEnded()) {
      request.response().reset(NO_ERROR);
    }
  }
}

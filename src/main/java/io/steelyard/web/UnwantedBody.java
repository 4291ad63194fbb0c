package io.steelyard.web;

import io.steelyard.config.Config;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServerRequest;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Takes what comes of bodies that nobody wants, as a connection's next request is behind it; within
 * the limits of a wanted body, so that nobody holds a connection by it.
 */
final class UnwantedBody {
  private final Vertx vertx;
  private final int bytesMax;
  private final long timeoutMs;

  UnwantedBody(Vertx vertx, Config config) {
    this.vertx = vertx;
    this.bytesMax = config.limits().bodyBytes();
    this.timeoutMs = config.timeouts().bodyMs();
  }

  /** Drops what comes of a body until its refusal is told, and of more than a body nothing. */
  void drop(HttpServerRequest request) {
    AtomicLong left = new AtomicLong(bytesMax);
    request
        .handler(
            unwanted -> {
              if (left.addAndGet(-unwanted.length()) < 0) {
                request.pause();
              }
            })
        .resume();
  }

  /**
   * Has what is still to come of the body dropped once the request is answered, by whomever, and
   * resumes a request that was paused. To be called before it is given to anybody.
   */
  void discardBehindAnswer(HttpServerRequest request) {
    Rest rest = new Rest(request);
    request.response().bodyEndHandler(answered -> rest.discard()).closeHandler(gone -> rest.end());
  }

  /** What comes of one body behind its answer. */
  private final class Rest {
    private final HttpServerRequest request;
    private long bytesLeft = bytesMax;
    private Long timer;

    private Rest(HttpServerRequest request) {
      this.request = request;
    }

    /** What exceeds the limits ends the connection, or its stream. */
    private void discard() {
      if (request.isEnded()
          || request.response().closed()
          || Closing.isAnnounced(request.connection())) {
        return;
      }
      timer = vertx.setTimer(timeoutMs, fired -> Closing.end(request));
      request.handler(chunk -> took(chunk.length()));
      request.exceptionHandler(error -> end());
      request.endHandler(whole -> end());
      request.resume();
    }

    private void took(int bytes) {
      bytesLeft -= bytes;
      if (bytesLeft < 0) {
        Closing.end(request);
      }
    }

    /** Nothing more is to come. Of a stream that was reset only the response hears. */
    private void end() {
      if (timer != null) {
        vertx.cancelTimer(timer);
      }
    }
  }
}

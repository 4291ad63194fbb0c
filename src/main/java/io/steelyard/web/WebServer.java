package io.steelyard.web;

import io.netty.handler.codec.http.TooLongHttpHeaderException;
import io.netty.handler.codec.http.TooLongHttpLineException;
import io.steelyard.config.Config;
import io.steelyard.db.Ids;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpVersion;
import io.vertx.core.internal.http.HttpServerRequestInternal;
import io.vertx.ext.web.Router;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;

/**
 * One HTTP/1.1 server on one port: bounded headers, lines, connections and silence; requests that
 * could be read in two ways are refused; every answer carries a request id.
 */
public final class WebServer {
  private static final CharSequence REQUEST_ID = HttpHeaders.createOptimized("x-request-id");
  private static final CharSequence CONTENT_TYPE_OPTIONS =
      HttpHeaders.createOptimized("x-content-type-options");
  private static final CharSequence NOSNIFF = HttpHeaders.createOptimized("nosniff");
  private static final Pattern REQUEST_ID_FORM = Pattern.compile("[A-Za-z0-9._-]{1,64}");
  private static final int LINE_BYTES_MAX = 8192;
  private static final int ACCEPT_BACKLOG = 1024;

  private final HttpServer server;
  private final HttpServerOptions options;
  private final Config config;
  private int connections;

  public WebServer(Vertx vertx, Config config, String host, int port) {
    this.config = config;
    this.options =
        new HttpServerOptions()
            .setHost(host)
            .setPort(port)
            .setIdleTimeout(config.timeouts().idleMs())
            .setIdleTimeoutUnit(TimeUnit.MILLISECONDS)
            .setMaxHeaderSize(config.limits().headerBytes())
            .setMaxInitialLineLength(LINE_BYTES_MAX)
            .setHttp2ClearTextEnabled(false)
            .setHandle100ContinueAutomatically(false)
            .setAcceptBacklog(ACCEPT_BACKLOG)
            .setTcpNoDelay(true)
            .setTcpKeepAlive(true)
            // there are no web sockets, whose extensions would look at every request
            .setPerMessageWebSocketCompressionSupported(false)
            .setPerFrameWebSocketCompressionSupported(false);
    this.server = vertx.createHttpServer(options);
  }

  /**
   * Binds the port; fails when it is taken.
   *
   * @param others takes what is none of the API's paths
   */
  public Future<Integer> listen(Api api, Router others) {
    return server
        .connectionHandler(this::connected)
        .requestHandler(request -> receive(request, api, others))
        .invalidRequestHandler(this::invalid)
        .listen()
        .map(HttpServer::actualPort);
  }

  /** Accepts nothing more and lets what is in flight end, for as long as a drain may take. */
  public Future<Void> shutdown() {
    return server.shutdown(config.timeouts().drainMs(), TimeUnit.MILLISECONDS);
  }

  private void connected(HttpConnection connection) {
    StrictRequestDecoder.install(connection, options, config.timeouts().headMs());
    connections++;
    connection.closeHandler(closed -> connections--);
    if (connections > config.limits().connectionsPerInstance()) {
      connection.close();
    }
  }

  private void receive(HttpServerRequest request, Api api, Router others) {
    if (Closing.isAnnounced(request.connection())) {
      return;
    }
    String requestId = name(request);
    String problem = problem(request);
    if (problem != null) {
      Problems.respond(request, requestId, Refusal.closing(400, "malformed_request", problem));
      return;
    }
    if (!api.handle(request, requestId)) {
      others.handle(request);
    }
  }

  /** The caller's request id where it is one, else a new one. */
  private static String name(HttpServerRequest request) {
    String given = request.getHeader(REQUEST_ID);
    String requestId =
        given != null && REQUEST_ID_FORM.matcher(given).matches()
            ? given
            : Ids.nextGuessableUuid().toString();
    request.response().putHeader(REQUEST_ID, requestId).putHeader(CONTENT_TYPE_OPTIONS, NOSNIFF);
    return requestId;
  }

  private static String problem(HttpServerRequest request) {
    if (request.headers().contains(StrictRequestDecoder.FORGED)) {
      return "A header looks like one that frames the body.";
    }
    List<String> hosts = request.headers().getAll(HttpHeaders.HOST);
    if (hosts.size() != 1) {
      return "There must be exactly one Host header.";
    }
    if (request.version() != HttpVersion.HTTP_1_0
        && !((HttpServerRequestInternal) request).isValidAuthority()) {
      return "The Host header is none.";
    }
    return Percent.isWellFormed(request.path()) ? null : "The path has an escape that is none.";
  }

  /** What the decoder itself could not read: too long a line, too many headers, broken framing. */
  private void invalid(HttpServerRequest request) {
    if (Closing.isAnnounced(request.connection())) {
      return;
    }
    Throwable cause = request.decoderResult().cause();
    String requestId = name(request);
    Refusal refusal =
        cause instanceof TooLongHttpHeaderException
            ? Refusal.closing(431, "headers_too_large", "The headers are too large.")
            : cause instanceof TooLongHttpLineException
                ? Refusal.closing(414, "uri_too_long", "The request line is too long.")
                : Refusal.closing(400, "malformed_request", "The request cannot be read.");
    Problems.respond(request, requestId, refusal);
  }
}

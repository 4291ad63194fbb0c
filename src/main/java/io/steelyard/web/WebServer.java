package io.steelyard.web;

import io.micrometer.core.instrument.MeterRegistry;
import io.netty.handler.codec.http.TooLongHttpHeaderException;
import io.netty.handler.codec.http.TooLongHttpLineException;
import io.opentelemetry.api.trace.Span;
import io.steelyard.bus.SharedGauge;
import io.steelyard.config.Config;
import io.steelyard.config.Tls;
import io.steelyard.db.Ids;
import io.vertx.core.Context;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.http.Http2Settings;
import io.vertx.core.http.HttpConnection;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServer;
import io.vertx.core.http.HttpServerOptions;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpVersion;
import io.vertx.core.internal.ContextInternal;
import io.vertx.core.internal.http.HttpServerRequestInternal;
import io.vertx.core.net.ServerSSLOptions;
import io.vertx.core.tracing.TracingPolicy;
import io.vertx.ext.web.Router;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;

/**
 * One HTTP server on one port: HTTP/1.1, and with a certificate also HTTP/2; bounded headers,
 * lines, streams, connections and silence; requests that could be read in two ways are refused;
 * every answer carries a request id.
 */
public final class WebServer {
  private static final CharSequence REQUEST_ID = HttpHeaders.createOptimized("x-request-id");
  private static final CharSequence CONTENT_TYPE_OPTIONS =
      HttpHeaders.createOptimized("x-content-type-options");
  private static final CharSequence NOSNIFF = HttpHeaders.createOptimized("nosniff");
  private static final Pattern REQUEST_ID_FORM = Pattern.compile("[A-Za-z0-9._-]{1,64}");
  private static final int LINE_BYTES_MAX = 8192;
  private static final int ACCEPT_BACKLOG = 1024;
  private static final int STREAMS_MAX = 50;
  private static final int HEADER_LIST_BYTES_MAX = 8192;
  private static final int RESETS_MAX = 200;
  private static final int RESETS_WINDOW_S = 30;
  private static final int SMALL_CONTINUATIONS_MAX = 16;
  private static final long NO_ERROR = 0;
  private static final int STREAM_ID_MAX = Integer.MAX_VALUE;

  private final Vertx vertx;
  private final HttpServerOptions options;
  private final Config config;
  private final Port port;
  private final MeterRegistry metrics;
  private final Future<Void> draining;
  private final Set<HttpConnection> multiplexed = new HashSet<>();
  private HttpServer server;
  private TlsRenewal renewal;
  private final AccessLog access;
  private final UnwantedBody unwanted;
  private final SharedGauge open;
  private int connections;

  /**
   * Where to listen, and how.
   *
   * @param section of the settings that say so
   * @param traces which requests: all, or those whose caller has begun a trace
   */
  public record Port(String section, String host, int number, Tls tls, TracingPolicy traces) {
    public static Port of(Config.Http http) {
      return new Port("http", http.host(), http.port(), http.tls(), TracingPolicy.ALWAYS);
    }

    /** Probes of health and metrics would be most of all traces. */
    public static Port of(Config.Management management) {
      return new Port(
          "management",
          management.host(),
          management.port(),
          management.tls(),
          TracingPolicy.PROPAGATE);
    }
  }

  /**
   * @param draining completes when a stop begins: from then on every answer of HTTP/1.1 ends its
   *     connection, and clients of HTTP/2 are told to open new streams elsewhere
   */
  public WebServer(
      Vertx vertx, Config config, Port port, MeterRegistry metrics, Future<Void> draining) {
    this.draining = draining;
    this.vertx = vertx;
    this.config = config;
    this.port = port;
    this.metrics = metrics;
    this.access = new AccessLog(config.log());
    this.unwanted = new UnwantedBody(vertx, config);
    this.open =
        SharedGauge.of(
            vertx,
            metrics,
            "steelyard.http.connections",
            "Connections of clients that are open",
            "port",
            port.section());
    this.options =
        new HttpServerOptions()
            .setHost(port.host())
            .setPort(port.number())
            .setIdleTimeout(config.timeouts().idleMs())
            .setIdleTimeoutUnit(TimeUnit.MILLISECONDS)
            .setMaxHeaderSize(config.limits().headerBytes())
            .setMaxInitialLineLength(LINE_BYTES_MAX)
            .setHttp2ClearTextEnabled(false)
            .setInitialSettings(
                new Http2Settings()
                    .setMaxConcurrentStreams(STREAMS_MAX)
                    .setMaxHeaderListSize(HEADER_LIST_BYTES_MAX))
            .setHttp2RstFloodMaxRstFramePerWindow(RESETS_MAX)
            .setHttp2RstFloodWindowDuration(RESETS_WINDOW_S)
            .setHttp2RstFloodWindowDurationTimeUnit(TimeUnit.SECONDS)
            .setHttp2MaxSmallContinuationFrames(SMALL_CONTINUATIONS_MAX)
            .setHandle100ContinueAutomatically(false)
            .setAcceptBacklog(ACCEPT_BACKLOG)
            .setTcpNoDelay(true)
            .setTcpKeepAlive(true)
            .setTracingPolicy(port.traces())
            // there are no web sockets, whose extensions would look at every request
            .setPerMessageWebSocketCompressionSupported(false)
            .setPerFrameWebSocketCompressionSupported(false);
  }

  /**
   * Binds the port; fails when it is taken, or when the files of its certificate cannot be used.
   *
   * @param others takes what is none of the API's paths
   */
  public Future<Integer> listen(Api api, Router others) {
    if (!port.tls().enabled()) {
      return listen(vertx.createHttpServer(options), api, others);
    }
    TlsFiles files = new TlsFiles(vertx, port.section(), port.tls());
    return vertx
        .executeBlocking(files::read, false)
        .compose(
            content -> {
              HttpServer secured = vertx.createHttpServer(secured(content));
              renewal = new TlsRenewal(vertx, port, secured, content, metrics);
              return listen(secured, api, others).onSuccess(bound -> renewal.start());
            });
  }

  private HttpServerOptions secured(TlsFiles.Content content) {
    ServerSSLOptions tls = content.options();
    return options
        .setSsl(true)
        .setUseAlpn(true)
        .setKeyCertOptions(tls.getKeyCertOptions())
        .setTrustOptions(tls.getTrustOptions())
        .setClientAuth(tls.getClientAuth())
        .setEnabledSecureTransportProtocols(tls.getEnabledSecureTransportProtocols());
  }

  private Future<Integer> listen(HttpServer created, Api api, Router others) {
    server = created;
    Context here = vertx.getOrCreateContext();
    draining.onSuccess(
        begun -> here.runOnContext(now -> multiplexed.forEach(WebServer::discourage)));
    return server
        .connectionHandler(this::connected)
        .requestHandler(request -> receive(request, api, others))
        .invalidRequestHandler(this::invalid)
        .listen()
        .map(HttpServer::actualPort);
  }

  /** Accepts nothing more and lets what is in flight end, for as long as a drain may take. */
  public Future<Void> shutdown() {
    if (renewal != null) {
      renewal.stop();
    }
    multiplexed.forEach(connection -> connection.goAway(NO_ERROR));
    return server.shutdown(config.timeouts().drainMs(), TimeUnit.MILLISECONDS);
  }

  /**
   * Tells the client of an HTTP/2 connection that it ends soon. It names no last stream yet, since
   * some may be on their way here: those are served like any other. That a server goes on so once
   * it has sent this is a way of this version of Vert.x.
   */
  private static void discourage(HttpConnection connection) {
    connection.goAway(NO_ERROR, STREAM_ID_MAX);
  }

  private void connected(HttpConnection connection) {
    boolean streams =
        !StrictRequestDecoder.install(
            connection, options, config.timeouts().headMs(), draining::isComplete);
    connections++;
    open.add(1);
    if (streams) {
      multiplexed.add(connection);
      if (draining.isComplete()) {
        vertx.runOnContext(begun -> discourage(connection));
      }
    }
    connection.closeHandler(
        closed -> {
          connections--;
          open.add(-1);
          multiplexed.remove(connection);
        });
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
      refuse(request, requestId, Refusal.closing(400, "malformed_request", problem));
      return;
    }
    unwanted.discardBehindAnswer(request);
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
    if (ContextInternal.current().tracer() != null) {
      hideAddress(requestId);
    }
    return requestId;
  }

  /**
   * Vert.x has written into the request's span where it went, in its sender's words, among which
   * may be a key: its route, where it has one, is written there later.
   */
  private static void hideAddress(String requestId) {
    Span.current()
        .setAttribute("http.url", "")
        .setAttribute("url.path", "")
        .setAttribute("url.query", "")
        .setAttribute("steelyard.request_id", requestId);
  }

  private static String problem(HttpServerRequest request) {
    if (request.headers().contains(StrictRequestDecoder.FORGED)) {
      return "A header looks like one that frames the body.";
    }
    if (!hasOneHost(request)) {
      return "There must be exactly one Host header.";
    }
    if (request.version() != HttpVersion.HTTP_1_0
        && !((HttpServerRequestInternal) request).isValidAuthority()) {
      return "The Host header is none.";
    }
    return Percent.isWellFormed(request.path()) ? null : "The path has an escape that is none.";
  }

  /**
   * HTTP/2 names the host beside the headers, where a Host header may repeat it: Vert.x resets a
   * stream on which the first one says something else.
   */
  private static boolean hasOneHost(HttpServerRequest request) {
    int hosts = request.headers().getAll(HttpHeaders.HOST).size();
    return hosts == 1 || (hosts == 0 && request.version() == HttpVersion.HTTP_2);
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
    refuse(request, requestId, refusal);
  }

  private void refuse(HttpServerRequest request, String requestId, Refusal refusal) {
    long startedAtNanos = System.nanoTime();
    Problems.respond(request, requestId, refusal);
    access.refused(request, requestId, null, startedAtNanos);
  }
}

package io.steelyard.web;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import io.steelyard.config.StartFailure;
import io.steelyard.config.Tls;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes up certificates that were renewed on disk: new connections get the new one, those that are
 * open keep theirs. Files that cannot be used, or do not belong together yet, change nothing.
 */
final class TlsRenewal {
  private static final Logger LOG = LoggerFactory.getLogger(TlsRenewal.class);

  private final Vertx vertx;
  private final String section;
  private final Tls tls;
  private final TlsFiles files;
  private final HttpServer server;
  private final Counter failed;
  private volatile TlsFiles.Content current;
  private String lastFailure;
  private long timer;

  TlsRenewal(
      Vertx vertx,
      WebServer.Port port,
      HttpServer server,
      TlsFiles.Content content,
      MeterRegistry metrics) {
    this.vertx = vertx;
    this.section = port.section();
    this.tls = port.tls();
    this.files = new TlsFiles(vertx, section, tls);
    this.server = server;
    this.current = content;
    this.failed =
        Counter.builder("steelyard.tls.reload.failed")
            .description("Times that changed certificate files could not be taken up")
            .tag("port", section)
            .register(metrics);
    // Of several instances the first one reports: all of them read the same files.
    Gauge.builder(
            "steelyard.tls.certificate.end",
            this,
            renewal -> renewal.current.notAfter().getEpochSecond())
        .description("When the certificate of the port ends, as Unix time")
        .baseUnit("seconds")
        .tag("port", section)
        .strongReference(true)
        .register(metrics);
  }

  void start() {
    timer = vertx.setTimer(tls.reloadMs(), fired -> look().onComplete(done -> start()));
  }

  void stop() {
    vertx.cancelTimer(timer);
  }

  private Future<?> look() {
    return vertx
        .executeBlocking(files::read, false)
        .compose(
            read ->
                read.equals(current)
                    ? Future.succeededFuture()
                    : server.updateSSLOptions(read.options()).onSuccess(done -> renewed(read)))
        .onSuccess(done -> lastFailure = null)
        .onFailure(this::failed);
  }

  private void renewed(TlsFiles.Content read) {
    current = read;
    LOG.info("{}: the new certificate is valid until {}", section, read.notAfter());
  }

  private void failed(Throwable error) {
    failed.increment();
    String line = error instanceof StartFailure known ? known.getMessage() : error.toString();
    if (!line.equals(lastFailure)) {
      lastFailure = line;
      LOG.error("The certificate stays as it was: {}", line);
    }
  }
}

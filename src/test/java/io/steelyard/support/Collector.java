package io.steelyard.support;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.opentelemetry.proto.collector.trace.v1.ExportTraceServiceRequest;
import io.opentelemetry.proto.collector.trace.v1.ExportTraceServiceResponse;
import io.opentelemetry.proto.trace.v1.Span;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.zip.GZIPInputStream;

/** Takes traces by OTLP over HTTP, as a collector does, and keeps them. */
public final class Collector implements AutoCloseable {
  private final HttpServer server;
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final List<Span> spans = new CopyOnWriteArrayList<>();
  private final List<String> authorizations = new CopyOnWriteArrayList<>();

  public Collector() {
    try {
      server = HttpServer.create(new InetSocketAddress(InetAddress.getByName("127.0.0.1"), 0), 16);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    server.setExecutor(threads);
    server.createContext("/v1/traces", this::take);
    server.start();
  }

  public String endpoint() {
    return "http://127.0.0.1:" + server.getAddress().getPort() + "/v1/traces";
  }

  private void take(HttpExchange exchange) throws IOException {
    String encoding = exchange.getRequestHeaders().getFirst("content-encoding");
    try (InputStream body =
        "gzip".equals(encoding)
            ? new GZIPInputStream(exchange.getRequestBody())
            : exchange.getRequestBody()) {
      authorizations.add(String.valueOf(exchange.getRequestHeaders().getFirst("authorization")));
      ExportTraceServiceRequest.parseFrom(body).getResourceSpansList().stream()
          .flatMap(resource -> resource.getScopeSpansList().stream())
          .forEach(scope -> spans.addAll(scope.getSpansList()));
    }
    byte[] answer = ExportTraceServiceResponse.getDefaultInstance().toByteArray();
    exchange.getResponseHeaders().add("content-type", "application/x-protobuf");
    exchange.sendResponseHeaders(200, answer.length == 0 ? -1 : answer.length);
    exchange.getResponseBody().write(answer);
    exchange.close();
  }

  /** What has come so far. */
  public List<Span> spans() {
    return List.copyOf(spans);
  }

  /** The header of every delivery. */
  public List<String> authorizations() {
    return List.copyOf(authorizations);
  }

  @Override
  public void close() {
    server.stop(0);
    threads.close();
  }
}

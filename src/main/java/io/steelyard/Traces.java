package io.steelyard;

import io.opentelemetry.api.common.Attributes;
import io.opentelemetry.api.trace.propagation.W3CTraceContextPropagator;
import io.opentelemetry.context.propagation.ContextPropagators;
import io.opentelemetry.exporter.otlp.http.trace.OtlpHttpSpanExporter;
import io.opentelemetry.exporter.otlp.http.trace.OtlpHttpSpanExporterBuilder;
import io.opentelemetry.sdk.OpenTelemetrySdk;
import io.opentelemetry.sdk.resources.Resource;
import io.opentelemetry.sdk.trace.SdkTracerProvider;
import io.opentelemetry.sdk.trace.export.BatchSpanProcessor;
import io.opentelemetry.sdk.trace.samplers.Sampler;
import io.steelyard.config.Config;
import io.vertx.core.spi.VertxTracerFactory;
import io.vertx.tracing.opentelemetry.OpenTelemetryTracingFactory;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.TimeUnit;

/**
 * The spans of requests, sent by OTLP over HTTP to whoever collects them. They wait in a bounded
 * queue and are dropped when it is full: nothing ever waits for the collector.
 */
final class Traces {
  private static final double PERCENT = 100.0;
  private static final Duration SEND_EVERY = Duration.ofSeconds(1);
  private static final Duration SEND_LIMIT = Duration.ofSeconds(5);
  private static final long LAST_LIMIT_MS = 800;

  private final OpenTelemetrySdk sdk;

  private Traces(OpenTelemetrySdk sdk) {
    this.sdk = sdk;
  }

  /** Null where none are wanted. */
  static Traces of(Config.Tracing config) {
    return config.enabled() ? new Traces(sdk(config)) : null;
  }

  private static OpenTelemetrySdk sdk(Config.Tracing config) {
    OtlpHttpSpanExporterBuilder exporter =
        OtlpHttpSpanExporter.builder().setEndpoint(config.endpoint()).setTimeout(SEND_LIMIT);
    if (config.authorization() != null) {
      exporter.addHeader("authorization", config.authorization());
    }
    Attributes process =
        Attributes.builder()
            .put("service.name", "steelyard")
            .put("service.instance.id", UUID.randomUUID().toString())
            .build();
    SdkTracerProvider provider =
        SdkTracerProvider.builder()
            .setResource(Resource.getDefault().merge(Resource.create(process)))
            .setSampler(
                Sampler.parentBased(Sampler.traceIdRatioBased(config.samplePercent() / PERCENT)))
            .addSpanProcessor(
                BatchSpanProcessor.builder(exporter.build()).setScheduleDelay(SEND_EVERY).build())
            .build();
    return OpenTelemetrySdk.builder()
        .setTracerProvider(provider)
        .setPropagators(ContextPropagators.create(W3CTraceContextPropagator.getInstance()))
        .build();
  }

  VertxTracerFactory factory() {
    return new OpenTelemetryTracingFactory(sdk);
  }

  /** Sends what is left, if the collector takes it at once. */
  void close() {
    sdk.shutdown().join(LAST_LIMIT_MS, TimeUnit.MILLISECONDS);
  }
}

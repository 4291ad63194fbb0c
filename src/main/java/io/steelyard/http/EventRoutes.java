package io.steelyard.http;

import io.steelyard.bus.Bus;
import io.steelyard.bus.FailureException;
import io.steelyard.config.Config;
import io.steelyard.usage.Decoded;
import io.steelyard.usage.EncodedEvents;
import io.steelyard.usage.EventDecoder;
import io.steelyard.usage.UsageMessages.Ingest;
import io.steelyard.usage.UsageMessages.Ingested;
import io.steelyard.web.Answer;
import io.steelyard.web.Endpoint;
import io.steelyard.web.Exchange;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import java.util.List;

/** {@code /external/event}, with and without a slash at its end. */
final class EventRoutes {
  private final Bus bus;
  private final RateLimits limits;
  private final EventDecoder decoder;

  EventRoutes(Bus bus, Config config, RateLimits limits) {
    this.bus = bus;
    this.limits = limits;
    this.decoder = new EventDecoder(config.limits());
  }

  List<Endpoint> endpoints() {
    return List.of(
        Endpoint.post("/external/event/", this::ingest).reading(Endpoint.Body.RAW_JSON),
        Endpoint.post("/external/event", this::ingest).reading(Endpoint.Body.RAW_JSON));
  }

  private Future<Answer> ingest(Exchange exchange) {
    exchange.query().check();
    return switch (decoder.decode(exchange.body())) {
      case Decoded.Faults faults -> FailureException.failed(faults.failure());
      case Decoded.Events events -> store(events.events(), exchange).map(EventRoutes::accepted);
    };
  }

  private Future<Ingested> store(EncodedEvents events, Exchange exchange) {
    return limits.events(
        exchange.request(),
        exchange.call(),
        events.count(),
        () -> bus.ask(new Ingest(events), exchange.call()));
  }

  /** By hand, as it is the answer of the busiest endpoint. */
  private static Answer accepted(Ingested counted) {
    return new Answer(
        202,
        "application/json",
        Buffer.buffer(
            "{\"accepted\":"
                + counted.accepted()
                + ",\"duplicates\":"
                + counted.duplicates()
                + "}"));
  }
}

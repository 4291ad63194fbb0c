package io.steelyard.operator;

import io.steelyard.bus.Bus;
import io.steelyard.bus.Failure;
import io.steelyard.config.Config;
import io.steelyard.usage.RetentionMessages.DropEventMonth;
import io.steelyard.usage.RetentionMessages.ListEventMonths;
import io.steelyard.web.Answer;
import io.steelyard.web.Endpoint;
import io.steelyard.web.Exchange;
import io.vertx.core.Future;
import java.util.List;
import java.util.regex.Pattern;

/** The months whose events are kept, of all merchants together, and their end. */
final class EventMonthRoutes {
  private static final String MONTHS = "/operator/events/months";
  private static final Pattern MONTH = Pattern.compile("[0-9]{4}-(0[1-9]|1[0-2])");

  private final Bus bus;
  private final Config.Events config;

  EventMonthRoutes(Bus bus, Config.Events config) {
    this.bus = bus;
    this.config = config;
  }

  List<Endpoint> endpoints() {
    return List.of(
        Endpoint.get(MONTHS, this::list).within(config.timeoutMs()),
        Endpoint.delete(MONTHS + "/{month}", this::drop).within(config.timeoutMs()));
  }

  private Future<Answer> list(Exchange exchange) {
    exchange.query().check();
    return bus.ask(new ListEventMonths(), exchange.call()).map(Answer::ok);
  }

  private Future<Answer> drop(Exchange exchange) {
    exchange.query().check();
    String month = exchange.path("month");
    if (!MONTH.matcher(month).matches()) {
      throw Failure.invalidParameter("month", "format", "Must be a month such as 2026-10.")
          .asException();
    }
    return bus.ask(new DropEventMonth(month), exchange.call()).map(done -> Answer.noContent());
  }
}

package io.steelyard.http;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.steelyard.bus.Call;
import io.steelyard.bus.Failure;
import io.steelyard.bus.FailureException;
import io.steelyard.config.Config;
import io.steelyard.web.Refusal;
import io.vertx.core.Future;
import io.vertx.core.http.HttpHeaders;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import java.util.function.Supplier;

/**
 * What each merchant may ask and send a second, in all instances of this process together, and what
 * answers say of it ({@code RateLimit} of draft-ietf-httpapi-ratelimit-headers-10). A limit of 0 is
 * none.
 */
public final class RateLimits {
  private static final String CODE = "rate_limited";
  private static final CharSequence STATE = HttpHeaders.createOptimized("ratelimit");
  private static final CharSequence POLICY = HttpHeaders.createOptimized("ratelimit-policy");

  /** Merchants whose use of the last seconds is known: some megabytes. */
  private static final int MERCHANTS_MAX = 50_000;

  private final RateLimit requests;
  private final RateLimit events;
  private final Counter refusedRequests;
  private final Counter refusedEvents;

  public RateLimits(Config.Limits config, MeterRegistry metrics) {
    this.requests = limit(config.requestsPerSecondPerMerchant());
    this.events = limit(config.eventsPerSecondPerMerchant());
    this.refusedRequests =
        Counter.builder("steelyard.http.rate.limited")
            .description("Requests refused because their merchant had sent too many")
            .register(metrics);
    this.refusedEvents =
        Counter.builder("steelyard.ingest.refused")
            .description("Events that were not taken")
            .tag("reason", CODE)
            .register(metrics);
  }

  private static RateLimit limit(int perSecond) {
    return perSecond == 0 ? null : new RateLimit(perSecond, MERCHANTS_MAX);
  }

  /** The same call, unless its merchant has sent too many requests. */
  Future<Call> request(HttpServerRequest request, Call call) {
    if (requests == null) {
      return Future.succeededFuture(call);
    }
    RateLimit.Outcome outcome = requests.take(call.merchantId(), 1, System.nanoTime());
    tell(request.response(), "requests", requests, outcome);
    if (outcome.taken()) {
      return Future.succeededFuture(call);
    }
    refusedRequests.increment();
    return Refusal.of(
            429, CODE, "A merchant may send " + requests.perSecond() + " requests a second.")
        .with("retry-after", Integer.toString(outcome.retryAfterS()))
        .failed();
  }

  /**
   * Counts the events of a request and has them stored, unless they are too many; none is counted
   * then. Events that the service could not take are given back: they are not the merchant's fault.
   */
  <T> Future<T> events(HttpServerRequest request, Call call, int count, Supplier<Future<T>> store) {
    if (events == null) {
      return store.get();
    }
    long takenAt = System.nanoTime();
    RateLimit.Outcome outcome = events.take(call.merchantId(), count, takenAt);
    if (!outcome.taken()) {
      tell(request.response(), "events", events, outcome);
      refusedEvents.increment(count);
      return FailureException.failed(
          new Failure.Overloaded(
              CODE,
              "A merchant may send " + events.perSecond() + " events a second.",
              outcome.retryAfterS()));
    }
    return store
        .get()
        .onComplete(
            stored ->
                tell(
                    request.response(),
                    "events",
                    events,
                    isRefusal(stored.cause())
                        ? events.giveBack(call.merchantId(), count, takenAt, System.nanoTime())
                        : outcome));
  }

  /** Not where the database failed: what it was given may be stored. */
  private static boolean isRefusal(Throwable error) {
    return error instanceof FailureException known
        && (known.failure() instanceof Failure.Overloaded
            || known.failure().code().equals("not_serving"));
  }

  /** Adds to what the answer says already of another limit. */
  private static void tell(
      HttpServerResponse response, String name, RateLimit limit, RateLimit.Outcome outcome) {
    add(response, POLICY, "\"" + name + "\";q=" + limit.perSecond() + ";w=1");
    add(response, STATE, "\"" + name + "\";r=" + outcome.left() + ";t=" + outcome.restoredS());
  }

  private static void add(HttpServerResponse response, CharSequence header, String item) {
    String others = response.headers().get(header);
    response.putHeader(header, others == null ? item : others + ", " + item);
  }
}

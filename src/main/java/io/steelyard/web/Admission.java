package io.steelyard.web;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.steelyard.bus.Call;
import io.steelyard.bus.Failure;
import io.steelyard.bus.FailureException;
import io.steelyard.bus.Waits;
import io.steelyard.config.Config;
import io.steelyard.domain.Id;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServerRequest;
import java.util.function.BiFunction;

/**
 * Lets requests in: as many at once as one instance takes, those that the gate admits, and of each
 * merchant what is its share, for which a request may wait. One per {@link Api}, on its event loop.
 */
final class Admission {
  private final Gate gate;
  private final UnwantedBody unwanted;
  private final InFlight inFlight;
  private final BodyBytes bodyBytes;
  private final MerchantShares shares;
  private final Waits places;
  private final Counter refused;

  /**
   * @param unwanted drops what comes of a body that only waits to be refused
   */
  Admission(Vertx vertx, Config config, Gate gate, UnwantedBody unwanted, MeterRegistry metrics) {
    Config.Limits limits = config.limits();
    int placeMs = config.timeouts().placeMs();
    this.gate = gate;
    this.unwanted = unwanted;
    this.inFlight = new InFlight(limits.httpInFlightPerInstance(), limits.connectionsPerInstance());
    this.bodyBytes = new BodyBytes(limits.bodyBytesInFlight(), metrics);
    this.shares = MerchantShares.of(vertx, limits, placeMs, metrics);
    this.places = Waits.of(vertx, placeMs);
    this.refused =
        Counter.builder("steelyard.http.refused")
            .description("Requests refused because too many were in flight")
            .register(metrics);
  }

  /** One more request's slot, which {@link #during} gives back; null above the limit. */
  InFlight.Slot enter() {
    return inFlight.enter();
  }

  /** Of a request above the limit. */
  FailureException refusal() {
    refused.increment();
    return new Failure.Overloaded("overloaded", "The service is at its capacity. Try again.", 1)
        .asException();
  }

  /**
   * What {@code work} comes to once the request is let in; all that the request holds has been
   * given back then, the slot too. Fails with the gate's refusal, or as overloaded.
   */
  Future<Answer> during(
      Arrival arrival, InFlight.Slot slot, BiFunction<Call, Held, Future<Answer>> work) {
    return admitted(arrival)
        .compose(
            call ->
                placed(arrival, call, slot)
                    .compose(place -> hold(new Held(this, slot, place, bodyBytes), call, work)))
        .onComplete(done -> slot.leave());
  }

  private Future<Call> admitted(Arrival arrival) {
    try {
      Future<Call> admitted = gate.admit(arrival.request(), arrival.requestId());
      if (!admitted.succeeded()) {
        arrival.request().pause(); // what follows must not be lost while its key is looked up
      }
      return admitted;
    } catch (RuntimeException e) {
      return Future.failedFuture(e);
    }
  }

  /**
   * No merchant takes all of the capacity, so that one that floods does not shut out others. Null
   * for a request of no merchant.
   */
  private Future<Place> placed(Arrival arrival, Call call, InFlight.Slot slot) {
    if (call.merchant() == null) {
      return Future.succeededFuture();
    }
    Id merchant = call.merchant().id();
    arrival.isOf(merchant);
    long announced = BodyReader.announced(arrival.request());
    Place place = shares.enter(merchant, announced);
    if (place != null) {
      return Future.succeededFuture(place);
    }
    arrival.request().pause();
    return awaited(arrival.request(), shares.await(merchant, announced, places), slot);
  }

  /** Meanwhile it is not in flight. */
  private Future<Place> awaited(HttpServerRequest request, PlaceWait wait, InFlight.Slot slot) {
    slot.leave();
    request.exceptionHandler(gone -> wait.giveUp());
    if (!wait.isInLine()) {
      unwanted.drop(request);
    }
    return wait.place()
        .onFailure(
            error -> {
              if (!request.response().closed()) {
                refused.increment();
              }
            })
        .compose(
            place -> {
              if (slot.enter()) {
                return Future.succeededFuture(place);
              }
              place.leave();
              return Future.failedFuture(refusal());
            });
  }

  private static Future<Answer> hold(
      Held held, Call call, BiFunction<Call, Held, Future<Answer>> work) {
    Future<Answer> answer;
    try {
      answer = work.apply(call, held);
    } catch (RuntimeException | Error e) { // what it holds would be held for ever
      answer = Future.failedFuture(e);
    }
    return answer.onComplete(done -> held.end());
  }

  /** Who comes back and finds no place is refused like any other. */
  Future<?> resume(InFlight.Slot slot, Place place) {
    return place
        .resume(places)
        .onFailure(error -> refused.increment())
        .compose(back -> slot.enter() ? Future.succeededFuture() : Future.failedFuture(refusal()));
  }
}

package io.steelyard.bus;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.vertx.core.Completable;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.VerticleBase;
import io.vertx.core.eventbus.Message;
import io.vertx.core.eventbus.MessageConsumer;
import io.vertx.core.internal.ContextInternal;
import java.util.UUID;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A verticle that answers one feature's requests: counts what is in flight and refuses above the
 * limit, drops what nobody waits for any more, and turns a throw or a failed Future into a failure
 * reply at once, since the bus itself would leave the caller waiting.
 *
 * @param <Q> the feature's messages
 */
public abstract class ServiceVerticle<Q extends Request<?>> extends VerticleBase {
  private static final Logger LOG = LoggerFactory.getLogger(ServiceVerticle.class);
  private static final long DRAIN_POLL_MS = 10;

  /**
   * What every such verticle is given.
   *
   * @param inFlightMax requests one instance works on at once; more are refused
   * @param failures what an error means to the caller
   */
  public record Settings(
      int inFlightMax, MeterRegistry metrics, Function<Throwable, Failure> failures) {}

  private final Address address;
  private final Settings settings;
  private final Counter refused;
  private final Here here;
  private BusMetrics served;
  private MessageConsumer<Asked> own;

  /** Written by its own thread only. */
  private volatile int inFlight;

  protected ServiceVerticle(Address address, Settings settings) {
    this.address = address;
    this.settings = settings;
    this.here = new Here();
    this.refused =
        Counter.builder("steelyard.bus.refused")
            .description("Requests refused because too many were in flight")
            .tag("address", address.value())
            .register(settings.metrics());
  }

  /** Answers {@code request}; may throw. Time-consuming work belongs into the Future. */
  protected abstract Future<? extends Reply> handle(Q request, Call call);

  /** Opens what the verticle owns, before the first request. */
  protected Future<?> open() {
    return Future.succeededFuture();
  }

  /**
   * Called when a stop begins. Requests on their way are still answered after it, and {@link
   * #close} comes after the last: what keeps requests waiting for other verticles should end here,
   * as those may be gone already.
   */
  protected void stopping() {}

  /** Closes what the verticle owns, after the last request. */
  protected Future<?> close() {
    return Future.succeededFuture();
  }

  @Override
  public Future<?> start() {
    served = BusMetrics.of(vertx, address, settings.metrics());
    return open()
        .compose(
            opened -> {
              own = vertx.eventBus().localConsumer(here.ownAddress(), this::receiveHere);
              return own.completion();
            })
        .onSuccess(done -> Answering.of(vertx).add(address, here));
  }

  @Override
  public Future<?> stop() {
    Answering.of(vertx).remove(address, here);
    stopping();
    Future<?> silent =
        own == null ? Future.succeededFuture() : unasked().compose(none -> own.unregister());
    return silent.compose(done -> idle()).compose(done -> close());
  }

  /** In a cluster, another node's request may just have been given to this instance. */
  private Future<Void> unasked() {
    return Nodes.of(vertx) == null
        ? Future.succeededFuture()
        : vertx.timer(DRAIN_POLL_MS).mapEmpty();
  }

  private Future<Void> idle() {
    Promise<Void> promise = Promise.promise();
    awaitIdle(promise);
    return promise.future();
  }

  private void awaitIdle(Promise<Void> promise) {
    if (inFlight == 0) {
      promise.complete();
    } else {
      vertx.setTimer(DRAIN_POLL_MS, timer -> awaitIdle(promise));
    }
  }

  private void receiveHere(Message<Asked> message) {
    Asked asked = message.body();
    ContextInternal here = ContextInternal.current();
    if (asked.envelope().call().expired()) {
      return; // the caller has been told that its time is up
    }
    receive(asked.envelope(), here.tracer() == null ? asked : Spans.receive(here, asked));
  }

  private void receive(Envelope envelope, Completable<Reply> answer) {
    Call call = envelope.call();
    if (!here.hasRoom()) {
      refused.increment();
      answer.fail(
          new Failure.Overloaded("overloaded", "The service is at its capacity. Try again.", 1)
              .asException());
      return;
    }
    inFlight++;
    long begunAt = served.begin();
    answer(envelope, call)
        .onComplete(
            outcome -> {
              inFlight--;
              if (outcome.succeeded()) {
                served.answered(begunAt);
                answer.succeed(outcome.result());
              } else {
                FailureException failure = asFailure(outcome.cause(), envelope);
                served.failed(begunAt, failure.failure());
                answer.fail(failure);
              }
            });
  }

  /** This verticle, to callers in this process. */
  private final class Here implements Answering.Instance {
    private final String ownAddress = address.value() + "." + UUID.randomUUID();

    @Override
    public boolean isAtHand() {
      return ((ContextInternal) context).inThread();
    }

    @Override
    public boolean hasRoom() {
      return inFlight < settings.inFlightMax();
    }

    @Override
    public String ownAddress() {
      return ownAddress;
    }
  }

  @SuppressWarnings("unchecked") // only this feature's requests carry this address
  private Future<? extends Reply> answer(Envelope envelope, Call call) {
    try {
      return handle((Q) envelope.request(), call);
    } catch (RuntimeException | Error e) { // the bus would swallow either
      return Future.failedFuture(e);
    }
  }

  private FailureException asFailure(Throwable cause, Envelope envelope) {
    if (cause instanceof FailureException known) {
      return known;
    }
    Failure failure = settings.failures().apply(cause);
    if (failure instanceof Failure.Unexpected) {
      Call call = envelope.call();
      LOG.atError()
          .addKeyValue("requestId", call.requestId())
          .addKeyValue("merchantId", call.merchant() == null ? null : call.merchant().id())
          .setCause(cause)
          .log("{} failed", envelope.request().getClass().getSimpleName());
    }
    return failure.asException();
  }
}

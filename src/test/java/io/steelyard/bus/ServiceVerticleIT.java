package io.steelyard.bus;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.steelyard.db.SqlFailures;
import io.vertx.core.DeploymentOptions;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.pgclient.PgException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class ServiceVerticleIT {
  private static final int IN_FLIGHT_MAX = 2;
  private static final long AT_ONCE_MS = 10_000;

  private final Vertx vertx = Vertx.vertx();
  private final Bus bus = new Bus(vertx, true);
  private final SimpleMeterRegistry metrics = new SimpleMeterRegistry();
  private final AtomicInteger handled = new AtomicInteger();
  private final AtomicInteger closed = new AtomicInteger();
  private final Deque<Promise<Pong>> held = new ConcurrentLinkedDeque<>();
  private volatile Runnable stopping = () -> {};
  private volatile Supplier<Future<Pong>> answer = () -> Future.succeededFuture(new Pong("pong"));

  /** A contract of one question. */
  interface PingMessages<R extends Reply> extends Request<R> {
    @Override
    default Address address() {
      return Address.CATALOG;
    }

    record Ping(String text) implements PingMessages<Pong> {}
  }

  record Pong(String text) implements Reply {}

  private final class PingVerticle extends ServiceVerticle<PingMessages<?>> {
    private PingVerticle() {
      super(Address.CATALOG, new Settings(IN_FLIGHT_MAX, metrics, SqlFailures::of));
    }

    @Override
    protected Future<? extends Reply> handle(PingMessages<?> request, Call call) {
      handled.incrementAndGet();
      return answer.get();
    }

    @Override
    protected void stopping() {
      stopping.run();
    }

    @Override
    protected Future<?> close() {
      closed.incrementAndGet();
      return Future.succeededFuture();
    }
  }

  @BeforeEach
  void register() {
    new RecordCodec(List.of(PingMessages.class)).register(vertx);
  }

  @AfterEach
  void close() {
    held.forEach(promise -> promise.tryComplete(new Pong("late"))); // a stop would wait for them
    vertx.close().await();
  }

  private String deploy() {
    return vertx.deployVerticle(new PingVerticle()).await();
  }

  private Future<Pong> ask() {
    return bus.ask(new PingMessages.Ping("ping"), Call.within("req-1", null, 20_000));
  }

  private Future<Pong> hold() {
    Promise<Pong> promise = Promise.promise();
    held.add(promise);
    return promise.future();
  }

  private Failure failureAtOnce(Future<Pong> asked) {
    try {
      throw new AssertionError("answered " + asked.await(AT_ONCE_MS, TimeUnit.MILLISECONDS));
    } catch (FailureException e) {
      return e.failure();
    } catch (TimeoutException e) {
      throw new AssertionError("no answer at once", e);
    }
  }

  private Failure failureWhen(Throwable cause) {
    answer = () -> Future.failedFuture(cause);
    return failureAtOnce(ask());
  }

  @Test
  void aHandlerThatThrowsAnswersAtOnceAndGoesOn() {
    deploy();
    for (int i = 0; i < IN_FLIGHT_MAX + 1; i++) {
      answer =
          () -> {
            throw new IllegalStateException("secret of the inside");
          };
      assertThat(failureAtOnce(ask())).isEqualTo(new Failure.Unexpected());
      answer =
          () -> {
            throw new StackOverflowError();
          };
      assertThat(failureAtOnce(ask())).isEqualTo(new Failure.Unexpected());
    }
    answer = () -> Future.succeededFuture(new Pong("still here"));

    assertThat(ask().await()).isEqualTo(new Pong("still here"));
  }

  @Test
  void anExpectedFailureTravelsAsItIs() {
    deploy();
    Failure expected =
        new Failure.Rejected("why", "Because.", List.of(Failure.Fault.at("/a", "b", "c")));

    assertThat(failureWhen(expected.asException())).isEqualTo(expected);
  }

  @Test
  void whatTheDatabaseSaysIsMappedByItsSqlState() {
    deploy();

    assertThat(failureWhen(sqlState("57P01"))).isEqualTo(Failure.databaseDown());
    assertThat(failureWhen(sqlState("53300"))).isEqualTo(Failure.databaseDown());
    assertThat(failureWhen(sqlState("40001")).code()).isEqualTo("contention");
    assertThat(failureWhen(sqlState("55P03")).code()).isEqualTo("contention");
    assertThat(failureWhen(sqlState("42P01"))).isEqualTo(new Failure.Unexpected());
    assertThat(failureWhen(new IOException("reset"))).isEqualTo(Failure.databaseDown());
    assertThat(failureWhen(new ArithmeticException())).isEqualTo(new Failure.Unexpected());
  }

  private static PgException sqlState(String code) {
    return new PgException("message of the server", "ERROR", code, "detail");
  }

  @Test
  void aboveTheLimitItRefusesAtOnceAndBelowItWorksAgain() {
    deploy();
    answer = this::hold;
    List<Future<Pong>> working = new ArrayList<>();
    for (int i = 0; i < IN_FLIGHT_MAX; i++) {
      working.add(ask());
    }

    Failure refused = failureAtOnce(ask());

    assertThat(refused).isInstanceOf(Failure.Overloaded.class);
    assertThat(handled).hasValue(IN_FLIGHT_MAX);
    assertThat(metrics.get("steelyard.bus.refused").counter().count()).isEqualTo(1);
    held.poll().complete(new Pong("first"));
    assertThat(working.get(0).await()).isEqualTo(new Pong("first"));
    answer = () -> Future.succeededFuture(new Pong("next"));
    assertThat(ask().await()).isEqualTo(new Pong("next"));
  }

  @Test
  void whoIsFullIsNotAskedWhileAnotherHasRoom() throws Exception {
    Map<Thread, Deque<Promise<Pong>>> held = new ConcurrentHashMap<>(); // one runs each instance
    answer =
        () -> {
          Promise<Pong> promise = Promise.promise();
          this.held.add(promise);
          held.computeIfAbsent(Thread.currentThread(), key -> new ConcurrentLinkedDeque<>())
              .add(promise);
          return promise.future();
        };
    vertx.deployVerticle(PingVerticle::new, new DeploymentOptions().setInstances(2)).await();
    for (int i = 0; i < 2 * IN_FLIGHT_MAX; i++) {
      askAndSeeHandled();
    }
    assertThat(held.values()).extracting(Deque::size).containsExactly(2, 2);

    for (Deque<Promise<Pong>> instance : held.values()) {
      for (int turn = 0; turn < 2; turn++) { // also when it is the other's
        instance.poll().complete(new Pong("a place"));

        askAndSeeHandled();

        assertThat(instance).hasSize(IN_FLIGHT_MAX);
      }
    }
    assertThat(failureAtOnce(ask())).isInstanceOf(Failure.Overloaded.class);
    assertThat(metrics.get("steelyard.bus.refused").counter().count()).isEqualTo(1);
  }

  private void askAndSeeHandled() throws InterruptedException {
    int before = handled.get();
    Future<Pong> asked = ask();
    while (handled.get() == before && !asked.isComplete()) {
      Thread.sleep(1);
    }
    assertThat(asked.isComplete()).isFalse();
  }

  @Test
  void nobodyWorksOnACallThatHasExpired() {
    deploy();
    Call expired = new Call("req-1", null, System.currentTimeMillis() - 1);

    assertThat(failureAtOnce(bus.ask(new PingMessages.Ping("late"), expired)))
        .isInstanceOf(Failure.TimedOut.class);
    Envelope sentAnyway = new Envelope(expired, new PingMessages.Ping("sent anyway"));
    vertx
        .eventBus()
        .send(
            Answering.of(vertx).choose(Address.CATALOG).ownAddress(),
            new Asked(sentAnyway, new Waits(vertx, 50), Promise.promise()));

    assertThat(ask().await()).isEqualTo(new Pong("pong"));
    assertThat(handled).hasValue(1);
  }

  @Test
  void whoeverWaitsTooLongIsToldAtTheDeadline() {
    deploy();
    answer = this::hold;
    long startedAt = System.nanoTime();

    Failure failure =
        failureAtOnce(bus.ask(new PingMessages.Ping("x"), Call.within("req-1", null, 200)));

    assertThat(failure).isInstanceOf(Failure.TimedOut.class);
    assertThat(System.nanoTime() - startedAt).isGreaterThan(150_000_000L);
  }

  @Test
  void withoutAHandlerTheAnswerIsUnavailableAtOnce() {
    assertThat(failureAtOnce(ask()))
        .isInstanceOfSatisfying(
            Failure.Unavailable.class, gone -> assertThat(gone.retryAfterS()).isPositive());
  }

  @Test
  void aStopWaitsForWhatIsInFlightBeforeItCloses() throws Exception {
    String id = deploy();
    answer = this::hold;
    Future<Pong> working = ask();
    while (held.isEmpty()) {
      Thread.sleep(5);
    }

    Future<Void> stopping = vertx.undeploy(id);
    Thread.sleep(100);

    assertThat(stopping.isComplete()).isFalse();
    assertThat(closed).hasValue(0);
    assertThat(failureAtOnce(ask())).isInstanceOf(Failure.Unavailable.class);
    held.poll().complete(new Pong("in time"));
    assertThat(working.await()).isEqualTo(new Pong("in time"));
    stopping.await();
    assertThat(closed).hasValue(1);
  }

  @Test
  void aVerticleIsToldOfAStopWhileRequestsAreInFlight() throws Exception {
    String id = deploy();
    answer = this::hold;
    stopping = () -> held.poll().complete(new Pong("let go"));
    Future<Pong> working = ask();
    while (held.isEmpty()) {
      Thread.sleep(5);
    }

    vertx.undeploy(id).await();

    assertThat(working.await()).isEqualTo(new Pong("let go"));
    assertThat(closed).hasValue(1);
  }
}

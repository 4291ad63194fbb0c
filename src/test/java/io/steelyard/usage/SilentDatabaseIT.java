package io.steelyard.usage;

import static io.steelyard.usage.UsageFixture.MARCH;
import static io.steelyard.usage.UsageFixture.await;
import static io.steelyard.usage.UsageFixture.event;
import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.steelyard.billing.BillingMessages;
import io.steelyard.billing.BillingVerticle;
import io.steelyard.bus.Bus;
import io.steelyard.bus.Call;
import io.steelyard.bus.Failure;
import io.steelyard.bus.FailureException;
import io.steelyard.bus.Reply;
import io.steelyard.bus.ServiceVerticle;
import io.steelyard.config.Config;
import io.steelyard.db.Pools;
import io.steelyard.db.SqlFailures;
import io.steelyard.domain.Environment;
import io.steelyard.domain.Id;
import io.steelyard.domain.IdKind;
import io.steelyard.merchant.MerchantClock;
import io.steelyard.subscription.Boundaries;
import io.steelyard.support.SilencedDatabase;
import io.steelyard.usage.UsageMessages.Ingested;
import io.vertx.core.Future;
import java.time.Clock;
import java.time.ZoneOffset;
import java.util.List;
import java.util.UUID;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** A database that says nothing any more, not even that it is gone. */
class SilentDatabaseIT {
  private static final Config.Database IMPATIENT =
      new Config.Database(
          null, "", 0, "none", 8, 2, 8, 4, 2, 256, 1000, 1000, 1000, 1000, 10_000, 256);
  private static final long CALL_MS = 9000;

  private static UsageFixture usage;
  private static SilencedDatabase database;
  private static Bus bus;

  @BeforeAll
  static void deploy() {
    usage = new UsageFixture();
    database = new SilencedDatabase(usage.vertx, usage.endpoint);
    bus = new Bus(usage.vertx, true);
    Pools pools = new Pools(IMPATIENT, database.endpoint());
    MerchantClock clock = new MerchantClock(Clock.systemUTC());
    ServiceVerticle.Settings settings =
        new ServiceVerticle.Settings(100, new SimpleMeterRegistry(), SqlFailures::of);
    await(
        usage.vertx.deployVerticle(new UsageVerticle(settings, pools, clock, UsageFixture.INGEST)));
    await(
        usage.vertx.deployVerticle(
            new BillingVerticle(
                settings,
                pools,
                clock,
                new Config.Billing(50, 10, 2, 200, 0),
                new Boundaries(clock, 0))));
  }

  @AfterAll
  static void close() {
    database.wake();
    usage.close();
  }

  private static Call call() {
    return new Call(
        "test",
        new Call.Merchant(
            new Id(IdKind.MERCHANT, usage.merchant), Environment.TEST, ZoneOffset.UTC),
        System.currentTimeMillis() + CALL_MS);
  }

  private static Future<Ingested> ingest() {
    return usage.ingest(
        usage.merchant, List.of(event(UUID.randomUUID(), UUID.randomUUID(), "a", MARCH, null)));
  }

  private static Failure failure(Future<? extends Reply> answer) {
    Throwable error = await(answer.<Throwable>map(done -> null).otherwise(thrown -> thrown));
    return ((FailureException) error).failure();
  }

  @Test
  void itsRequestsFailInTimeAndTheirPlacesAreFreeAgain() {
    await(bus.ask(new BillingMessages.RunDueWork(), call()));
    await(ingest());

    database.silence();
    Future<BillingMessages.DueWorkDone> dueWork = bus.ask(new BillingMessages.RunDueWork(), call());
    List<Future<Ingested>> answers = IntStream.range(0, 20).mapToObj(i -> ingest()).toList();
    assertThat(answers).allSatisfy(answer -> assertUnavailable(failure(answer)));
    assertUnavailable(failure(dueWork));

    database.wake();
    assertThat(await(ingest())).isEqualTo(new Ingested(1, 0));
    usage.execute("DELETE FROM event_batch"); // nobody folds here, and due work waits for the fold
    await(bus.ask(new BillingMessages.RunDueWork(), call()));
  }

  private static void assertUnavailable(Failure failure) {
    assertThat(failure).isInstanceOf(Failure.Unavailable.class);
    assertThat(failure.code()).isEqualTo("database_unavailable");
  }
}

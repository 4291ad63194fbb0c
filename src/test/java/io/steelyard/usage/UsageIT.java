package io.steelyard.usage;

import static io.steelyard.usage.UsageFixture.MARCH;
import static io.steelyard.usage.UsageFixture.await;
import static io.steelyard.usage.UsageFixture.event;
import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.bus.Failure;
import io.steelyard.bus.FailureException;
import io.steelyard.config.Config;
import io.steelyard.usage.UsageMessages.Ingested;
import io.vertx.core.Future;
import java.math.BigDecimal;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class UsageIT {
  private static final Config.Ingest CONFIG =
      new Config.Ingest(50, 100_000, 2, 200, 300_000, 100, 50_000);
  private static UsageFixture usage;
  private static String deployment;

  private final UUID customer = UUID.randomUUID();

  @BeforeAll
  static void deploy() {
    usage = new UsageFixture();
    deployment = usage.ingestion(CONFIG);
  }

  @AfterAll
  static void close() {
    usage.close();
  }

  @BeforeEach
  void empty() {
    usage.execute("TRUNCATE event_key, event_batch");
  }

  @Test
  void anAnsweredEventIsVisibleToEveryoneAndQueuedForTheFold() {
    Ingested answer =
        await(
            usage.ingest(
                usage.merchant,
                List.of(
                    event(customer, "a", MARCH, "{\"v\": 1.0}"),
                    new UsageEvent(
                        UUID.randomUUID(), 1, null, "somebody", "b", MARCH, "u", null))));

    assertThat(answer).isEqualTo(new Ingested(2, 0));
    assertThat(stored()).isEqualTo(2);
    assertThat(usage.text("SELECT data FROM event WHERE name = 'a'")).isEqualTo("{\"v\": 1.0}");
    assertThat(usage.text("SELECT customer_ref || user_id FROM event WHERE name = 'b'"))
        .isEqualTo("somebodyu");
    assertThat(
            usage.number(
                "SELECT sum(events) FROM event_batch WHERE merchant_id = '%s'", usage.merchant))
        .isEqualByComparingTo("2");
  }

  @Test
  void aKeyIsStoredOnceWithinARequestAndAcrossRequests() {
    UsageEvent event = event(customer, "a", MARCH, null);
    UsageEvent other = event(customer, "b", MARCH, null);

    assertThat(await(usage.ingest(usage.merchant, List.of(event, event, other))))
        .isEqualTo(new Ingested(2, 1));
    assertThat(await(usage.ingest(usage.merchant, List.of(event)))).isEqualTo(new Ingested(0, 1));
    assertThat(stored()).isEqualTo(2);
    assertThat(usage.number("SELECT sum(events) FROM event_batch")).isEqualByComparingTo("2");
  }

  @Test
  void theFirstPayloadUnderAKeyWinsAndTheOthersAreCountedAsConflicts() {
    UUID key = UUID.randomUUID();
    double before = conflicts();

    await(
        usage.ingest(
            usage.merchant,
            List.of(
                event(key, customer, "first", MARCH, null),
                event(key, customer, "second", MARCH, null))));
    await(usage.ingest(usage.merchant, List.of(event(key, customer, "first", MARCH, null))));
    await(usage.ingest(usage.merchant, List.of(event(key, customer, "third", MARCH, null))));
    // conflicts are counted after the answer; a stop waits for that
    usage.undeploy(deployment);
    deployment = usage.ingestion(CONFIG);

    assertThat(usage.text("SELECT name FROM event")).isEqualTo("first");
    assertThat(conflicts() - before).isEqualTo(2);
  }

  @Test
  void theSameKeySentTwoHundredTimesAtOnceIsStoredOnce() {
    UsageEvent event = event(customer, "a", MARCH, null);

    List<Ingested> answers =
        IntStream.range(0, 200)
            .mapToObj(i -> usage.ingest(usage.merchant, List.of(event)))
            .toList()
            .stream()
            .map(UsageFixture::await)
            .toList();

    assertThat(answers.stream().mapToInt(Ingested::accepted).sum()).isEqualTo(1);
    assertThat(answers.stream().mapToInt(Ingested::duplicates).sum()).isEqualTo(199);
    assertThat(stored()).isEqualTo(1);
  }

  @Test
  void twoMerchantsMayUseTheSameKey() {
    UUID other = usage.neighbour().merchant;
    UsageEvent event = event(customer, "a", MARCH, null);

    Future<Ingested> first = usage.ingest(usage.merchant, List.of(event));
    Future<Ingested> second = usage.ingest(other, List.of(event));

    assertThat(await(first)).isEqualTo(new Ingested(1, 0));
    assertThat(await(second)).isEqualTo(new Ingested(1, 0));
    assertThat(usage.number("SELECT count(*) FROM event_batch")).isEqualByComparingTo("2");
  }

  @Test
  void aRequestLargerThanAFlushIsStoredWhole() {
    List<UsageEvent> events =
        IntStream.range(0, 120).mapToObj(i -> event(customer, "a", MARCH, null)).toList();

    assertThat(await(usage.ingest(usage.merchant, events))).isEqualTo(new Ingested(120, 0));
    assertThat(usage.number("SELECT count(DISTINCT batch) FROM event_batch"))
        .isEqualByComparingTo("1");
  }

  @Test
  void nothingIsDoneForNoEvents() {
    assertThat(await(usage.ingest(usage.merchant, List.of()))).isEqualTo(new Ingested(0, 0));
  }

  @Test
  void aFailedFlushAnswersEveryRequestAndTheNextOneWorks() {
    usage.execute("ALTER TABLE event_batch RENAME TO away");
    List<Future<Ingested>> answers = new ArrayList<>();
    for (int i = 0; i < 20; i++) {
      answers.add(usage.ingest(usage.merchant, List.of(event(customer, "a", MARCH, null))));
    }

    List<Failure> failures = answers.stream().map(UsageIT::failure).toList();
    usage.execute("ALTER TABLE away RENAME TO event_batch");

    assertThat(failures).hasSize(20).hasOnlyElementsOfType(Failure.Unexpected.class);
    assertThat(stored()).isZero();
    assertThat(await(usage.ingest(usage.merchant, List.of(event(customer, "a", MARCH, null)))))
        .isEqualTo(new Ingested(1, 0));
  }

  @Test
  void aLostConnectionIsAnUnavailableDatabase() {
    List<Future<Ingested>> answers = new ArrayList<>();
    whileEventsAreLocked(
        () -> {
          for (int i = 0; i < 10; i++) {
            answers.add(usage.ingest(usage.merchant, List.of(event(customer, "a", MARCH, null))));
          }
          usage.awaitTrue(WAITING_FLUSHES.formatted(1));
          usage.execute(
              """
              SELECT pg_terminate_backend(pid) FROM pg_stat_activity
              WHERE application_name = 'steelyard-ingest' AND datname = current_database()
              """);
        });

    List<Failure> failures =
        answers.stream().filter(answer -> outcome(answer) != null).map(UsageIT::failure).toList();
    assertThat(failures).isNotEmpty().hasOnlyElementsOfType(Failure.Unavailable.class);
    assertThat(stored()).isEqualTo(10 - failures.size());
  }

  @Test
  void refusesWhatTheBufferCannotHold() {
    List<UsageEvent> events =
        IntStream.range(0, 150).mapToObj(i -> event(customer, "a", MARCH, null)).toList();
    List<Future<Ingested>> answers = new ArrayList<>();
    whileEventsAreLocked(
        () -> {
          answers.add(usage.ingest(usage.merchant, events));
          usage.awaitTrue(WAITING_FLUSHES.formatted(1));
          assertThat(failure(usage.ingest(usage.merchant, events.subList(0, 51))))
              .isInstanceOfSatisfying(
                  Failure.Overloaded.class,
                  full -> assertThat(full.code()).isEqualTo("ingest_overloaded"));
          assertThat(usage.metrics.get("steelyard.ingest.buffered").gauge().value()).isEqualTo(150);
        });

    assertThat(await(answers.get(0))).isEqualTo(new Ingested(150, 0));
    assertThat(
            usage
                .metrics
                .get("steelyard.ingest.refused")
                .tag("reason", "ingest_overloaded")
                .counter()
                .count())
        .isEqualTo(51);
  }

  @Test
  void bytesBoundTheBufferAndTheFlushesAsTheNumberOfEventsDoes() {
    String data = "{\"v\": \"" + "x".repeat(60_000) + "\"}";
    List<Future<Ingested>> answers = new ArrayList<>();
    whileEventsAreLocked(
        () -> {
          for (int i = 0; i < 4; i++) {
            answers.add(usage.ingest(usage.merchant, List.of(event(customer, "a", MARCH, data))));
          }
          usage.awaitTrue(WAITING_FLUSHES.formatted(2));
          assertThat(
                  failure(usage.ingest(usage.merchant, List.of(event(customer, "a", MARCH, data)))))
              .isInstanceOfSatisfying(
                  Failure.Overloaded.class,
                  full -> assertThat(full.code()).isEqualTo("ingest_overloaded"));
          assertThat(usage.metrics.get("steelyard.ingest.buffered.bytes").gauge().value())
              .isBetween(240_000d, 250_000d);
        });

    assertThat(answers)
        .allSatisfy(answer -> assertThat(await(answer)).isEqualTo(new Ingested(1, 0)));
    assertThat(usage.number("SELECT count(DISTINCT batch) FROM event_batch"))
        .isEqualByComparingTo("4");
    assertThat(usage.number("SELECT min(bytes) FROM event_batch"))
        .isBetween(new BigDecimal(200 + data.length()), new BigDecimal(400 + data.length()));
    assertThat(usage.metrics.get("steelyard.ingest.buffered.bytes").gauge().value()).isZero();
  }

  @Test
  void oneRequestAloneMayBeLargerThanTheBuffer() {
    String data = "{\"v\": \"" + "x".repeat(60_000) + "\"}";
    List<UsageEvent> events =
        IntStream.range(0, 6).mapToObj(i -> event(customer, "a", MARCH, data)).toList();

    assertThat(await(usage.ingest(usage.merchant, events))).isEqualTo(new Ingested(6, 0));
  }

  @Test
  void stoppingStoresAndAnswersWhatIsBuffered() {
    List<Future<Ingested>> answers = new ArrayList<>();
    whileEventsAreLocked(
        () -> {
          for (int i = 0; i < 10; i++) {
            answers.add(usage.ingest(usage.merchant, List.of(event(customer, "a", MARCH, null))));
          }
          usage.awaitTrue(WAITING_FLUSHES.formatted(1));
        });

    usage.undeploy(deployment);
    deployment = usage.ingestion(CONFIG);

    assertThat(answers)
        .allSatisfy(answer -> assertThat(await(answer)).isEqualTo(new Ingested(1, 0)));
    assertThat(stored()).isEqualTo(10);
  }

  private static final String WAITING_FLUSHES =
      """
      SELECT count(*) >= %d FROM pg_stat_activity
      WHERE application_name = 'steelyard-ingest' AND datname = current_database()
        AND wait_event_type = 'Lock'
      """;

  private static void whileEventsAreLocked(Runnable action) {
    try (Connection connection = usage.endpoint.connect()) {
      connection.setAutoCommit(false);
      connection.createStatement().execute("LOCK TABLE event_key IN SHARE MODE");
      action.run();
      connection.rollback();
    } catch (SQLException e) {
      throw new IllegalStateException(e);
    }
  }

  private static int stored() {
    return usage.number("SELECT count(*) FROM event").intValue();
  }

  private static double conflicts() {
    return usage.metrics.get("steelyard.ingest.conflicts").counter().count();
  }

  private static Failure failure(Future<Ingested> answer) {
    return outcome(answer) instanceof FailureException known ? known.failure() : null;
  }

  /** What the answer failed with, or null when it did not. */
  private static Throwable outcome(Future<Ingested> answer) {
    return await(answer.<Throwable>map(done -> null).otherwise(error -> error));
  }
}

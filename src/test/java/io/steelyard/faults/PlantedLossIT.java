package io.steelyard.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.db.Endpoint;
import io.steelyard.faults.Ledger.Outcome;
import io.steelyard.faults.Ledger.Sent;
import io.steelyard.support.PostgresSupport;
import io.steelyard.support.Tables;
import io.steelyard.support.TestApp;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * What goes wrong behind the service's back is seen, and named: else the fault tests prove nothing.
 */
class PlantedLossIT {
  private static final int CONNECTIONS = 4;
  private static final long EVENTS = 1500;

  @TempDir static Path temp;
  private static Endpoint sound;
  private static Account account;
  private static Ledger ledger;
  private Endpoint database;

  @BeforeAll
  static void load() {
    sound = PostgresSupport.migratedDatabase();
    ledger = new Ledger(temp.resolve("ledger.txt"));
    try (TestApp app = TestApp.start(sound, Map.of())) {
      account = Account.make(app);
      try (EventLoad load =
          new EventLoad(
                  account,
                  List.of(new Door("127.0.0.1", app.port(), () -> true)),
                  ledger,
                  Scene.SEED)
              .start(CONNECTIONS)) {
        // Which requests are refused is drawn by lot: wait for one.
        Scene.until(
            "acknowledged and refused",
            60,
            () -> load.acknowledged() > EVENTS && ledger.count(Outcome.REFUSED) > 0);
        load.finish();
        assertThat(load.faults()).isEmpty();
      }
      Scene.until("counted", 30, () -> one(sound, "SELECT count(*) FROM event_batch").equals("0"));
    }
  }

  @AfterAll
  static void close() {
    ledger.close();
  }

  @BeforeEach
  void copy() {
    database = PostgresSupport.copyOf(sound);
  }

  private static String one(Endpoint database, String sql) {
    return Tables.query(database, sql).getFirst();
  }

  private List<String> faults() {
    return faults(ledger.entries());
  }

  private List<String> faults(Map<UUID, Ledger.Entry> entries) {
    return LedgerCheck.faults(database, account.merchantUuid(), account.customerUuids(), entries);
  }

  private static Sent any(Outcome outcome) {
    return ledger.entries().values().stream()
        .filter(entry -> entry.outcome() == outcome)
        .map(Ledger.Entry::event)
        .findAny()
        .orElseThrow();
  }

  /** Changes what is stored of a key in its chunk. */
  private void change(UUID key, String content) {
    PostgresSupport.execute(
        database,
        """
        UPDATE event_chunk c
           SET content = (SELECT coalesce(json_agg(e ORDER BY n), '[]')::text
                          FROM (%s) AS changed (e, n))
         WHERE content LIKE '%%%s%%'
        """
            .formatted(content, key));
  }

  private static final String ALL = "SELECT e, n FROM json_array_elements(c.content::json) ";
  private static final String NUMBERED = ALL + "WITH ORDINALITY AS x (e, n) ";

  @Test
  void whereNothingWasPlantedNothingIsFound() {
    assertThat(ledger.count(Outcome.ACKED)).isGreaterThanOrEqualTo(EVENTS);
    assertThat(ledger.count(Outcome.REFUSED)).isPositive();
    assertThat(faults()).isEmpty();
  }

  @Test
  void aLostEventIsNamed() {
    UUID key = any(Outcome.ACKED).key();

    change(key, NUMBERED + "WHERE e ->> 'k' <> '" + key + "'");

    assertThat(faults())
        .contains("acknowledged and lost: " + key)
        .contains("its key is known, but it is not stored: " + key);
  }

  @Test
  void anEventThatIsStoredTwiceIsNamed() {
    UUID key = any(Outcome.ACKED).key();

    change(key, NUMBERED + "UNION ALL " + NUMBERED + "WHERE e ->> 'k' = '" + key + "'");

    assertThat(faults()).contains("stored twice: " + key);
  }

  /** One lost and one that nobody sent: their number is what it was. */
  @Test
  void anEventInThePlaceOfAnotherIsNamedBesideIt() {
    UUID key = any(Outcome.ACKED).key();
    UUID other = new UUID(1, 2);

    PostgresSupport.execute(
        database,
        "UPDATE event_chunk SET content = replace(content, '%s', '%s')".formatted(key, other));

    assertThat(faults())
        .contains("acknowledged and lost: " + key)
        .contains("stored and never sent: " + other);
  }

  @Test
  void aLostKeyIsNamed() {
    UUID key = any(Outcome.ACKED).key();

    PostgresSupport.execute(database, "DELETE FROM event_key WHERE key = '" + key + "'");

    assertThat(faults()).containsExactly("stored, and its key is not known: " + key);
  }

  @Test
  void aCountThatIsMadeTwiceIsSeen() {
    Sent event = any(Outcome.ACKED);
    UUID customer = account.customerUuids().get(event.customer());

    PostgresSupport.execute(
        database,
        """
        UPDATE usage_counter c SET events = c.events + 1, sum = c.sum + %d
          FROM subscription s, billable b
         WHERE s.id = c.subscription_id AND s.customer_id = '%s'
           AND b.id = c.billable_id AND b.slug = '%s'
        """
            .formatted(event.count(), customer, event.name()));

    assertThat(faults())
        .hasSize(2)
        .allMatch(fault -> fault.startsWith("counter " + customer + " " + event.name()));
  }

  @Test
  void anEventThatWasNotCountedIsNamed() {
    Sent event = any(Outcome.ACKED);
    UUID customer = account.customerUuids().get(event.customer());

    PostgresSupport.execute(
        database,
        "DELETE FROM usage_unique WHERE value_hash ="
            + " substr(encode(sha256('%s'::bytea), 'hex'), 1, 32)::uuid".formatted(event.key()),
        """
        UPDATE usage_counter c SET uniques = c.uniques - 1, events = c.events - 1
          FROM subscription s, billable b
         WHERE s.id = c.subscription_id AND s.customer_id = '%s'
           AND b.id = c.billable_id AND b.slug = 'ids'
        """
            .formatted(customer));

    assertThat(faults())
        .contains("stored and not counted: " + event.key())
        .anyMatch(fault -> fault.startsWith("counter " + customer + " ids"));
  }

  @Test
  void aRefusedOneThatIsStoredIsNamed() {
    Sent event = any(Outcome.ACKED);
    Map<UUID, Ledger.Entry> entries = new HashMap<>(ledger.entries());

    entries.put(event.key(), new Ledger.Entry(event, Outcome.REFUSED));

    assertThat(faults(entries)).contains("refused and stored: " + event.key());
  }

  @Test
  void anEventThatIsStoredOtherwiseThanSentIsNamed() {
    Sent event = any(Outcome.ACKED);
    Map<UUID, Ledger.Entry> entries = new HashMap<>(ledger.entries());

    entries.put(
        event.key(),
        new Ledger.Entry(
            new Sent(
                event.key(), event.customer(), event.name(), event.count() + 1, event.atMillis()),
            Outcome.ACKED));

    assertThat(faults(entries)).contains("stored otherwise than sent: " + event.key());
  }
}

package io.steelyard.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.support.PostgresSupport;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * What one node stores is committed seconds after it was written, while what another stores later
 * is committed and counted. Whoever counts by number or time of writing would pass by what was
 * late.
 */
class LateCommitFaults {
  private static final int TIMES = Integer.getInteger("faults.lateCommits", 5);
  private static final int EVENTS = 100;
  private static final String LATE =
      """
      CREATE FUNCTION late() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        IF current_user = 'late' THEN PERFORM pg_sleep(8); END IF;
        RETURN NULL;
      END $$;
      CREATE TRIGGER late AFTER INSERT ON event_batch FOR EACH STATEMENT EXECUTE FUNCTION late()
      """;

  /** When the transaction began that has written and waits; empty where there is none. */
  private static final String WAITING =
      """
      SELECT coalesce(max(xact_start)::text, '') FROM pg_stat_activity
       WHERE usename = 'late' AND wait_event = 'PgSleep'
      """;

  private static final String COUNTED = "SELECT coalesce(sum(events), 0) FROM usage_counter";

  @TempDir Path temp;

  @Test
  void whatIsCommittedLateIsCountedToo() {
    try (Scene scene = Scene.open("late-commit", temp)) {
      PostgresSupport.execute(scene.postgres().endpoint(), LATE);
      Node slow = scene.node(scene.as("late").with(Map.of("database.statementTimeoutMs", "15000")));
      Node prompt = scene.node();
      slow.start();
      prompt.start();
      try (EventLoad atLate = scene.load(List.of(slow), node -> true);
          EventLoad atPrompt = scene.load(List.of(prompt), node -> true)) {
        int meanwhile = 0;
        for (int i = 0; i < TIMES; i++) {
          Scene.until("one waits", 60, () -> !waiting(scene).isEmpty());
          String late = waiting(scene);
          long counted = counted(scene);
          Scene.until("others are counted", 30, () -> counted(scene) > counted + EVENTS);
          meanwhile += waiting(scene).equals(late) ? 1 : 0;
          Scene.until("it is committed", 30, () -> !waiting(scene).equals(late));
        }
        scene.say("%d commits late; others were counted before %d of them", TIMES, meanwhile);
        assertThat(meanwhile).isPositive();
        scene.check(atLate, atPrompt);
      }
    }
  }

  private static long counted(Scene scene) {
    return Long.parseLong(scene.query(COUNTED));
  }

  private static String waiting(Scene scene) {
    return scene.query(WAITING);
  }
}

package io.steelyard.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.support.PostgresSupport;
import io.steelyard.support.Tables;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * What one node stores is committed seconds after it was written, while what another stores later
 * is committed and counted. Whoever counts by number or time of writing passes by what was late:
 * two readers that do so, beside the service, must be seen to.
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

  /** What was stored stays here when it was counted; with it, and as late. */
  private static final String KEPT =
      """
      CREATE TABLE kept AS SELECT batch, stored_at FROM event_batch WITH NO DATA;
      CREATE FUNCTION keep() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        INSERT INTO kept VALUES (NEW.batch, NEW.stored_at);
        RETURN NULL;
      END $$;
      CREATE TRIGGER keep AFTER INSERT ON event_batch FOR EACH ROW EXECUTE FUNCTION keep()
      """;

  /** When the transaction began that has written and waits; empty where there is none. */
  private static final String WAITING =
      """
      SELECT coalesce(max(xact_start)::text, '') FROM pg_stat_activity
       WHERE usename = 'late' AND wait_event = 'PgSleep'
      """;

  private static final String COUNTED = "SELECT coalesce(sum(events), 0) FROM usage_counter";

  @TempDir Path temp;

  /** Reads on from the greatest value that it has seen in a column. */
  private static final class NaiveReader {
    private final Scene scene;
    private final String column;
    private final List<String> read = new ArrayList<>();
    private String last = "";

    NaiveReader(Scene scene, String column) {
      this.scene = scene;
      this.column = column;
    }

    void readOn() {
      String greater = last.isEmpty() ? "" : "WHERE %s > '%s'".formatted(column, last);
      List<String> rows =
          Tables.query(
              scene.postgres().endpoint(),
              "SELECT concat(batch, '|', %1$s) FROM kept %2$s ORDER BY %1$s"
                  .formatted(column, greater));
      rows.forEach(row -> read.add(row.substring(0, row.indexOf('|'))));
      last = rows.isEmpty() ? last : rows.getLast().substring(rows.getLast().indexOf('|') + 1);
    }

    /** How many of the batches that are there it has never seen. */
    long lost() {
      readOn();
      return Tables.query(scene.postgres().endpoint(), "SELECT batch FROM kept").stream()
          .filter(batch -> !read.contains(batch))
          .count();
    }
  }

  @Test
  void whatIsCommittedLateIsCountedToo() {
    try (Scene scene = Scene.open("late-commit", temp)) {
      PostgresSupport.execute(scene.postgres().endpoint(), LATE, KEPT);
      List<NaiveReader> readers =
          List.of(new NaiveReader(scene, "batch"), new NaiveReader(scene, "stored_at"));
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
          readers.forEach(NaiveReader::readOn);
          meanwhile += waiting(scene).equals(late) ? 1 : 0;
          Scene.until("it is committed", 30, () -> !waiting(scene).equals(late));
        }
        scene.say("%d commits late; others were counted before %d of them", TIMES, meanwhile);
        assertThat(meanwhile).isPositive();
        scene.check(atLate, atPrompt);
        List<Long> lost = readers.stream().map(NaiveReader::lost).toList();
        scene.say("lost to who reads on by number, and by time of writing: %s batches", lost);
        assertThat(lost).allMatch(batches -> batches > 0);
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

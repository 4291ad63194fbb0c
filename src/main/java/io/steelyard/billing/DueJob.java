package io.steelyard.billing;

import io.vertx.core.Future;
import io.vertx.sqlclient.SqlConnection;
import java.util.List;
import java.util.UUID;

/** One kind of due work, done in transactions of limited size by however many at once. */
interface DueJob {
  /**
   * What to claim.
   *
   * @param max how much at most
   * @param only of these; null for any
   * @param lane from 0: of the customers whose ids fall to this lane, so that lanes of one instance
   *     do not wait for each other's customers
   * @param lanes how many there are
   */
  record Claim(int max, List<UUID> only, int lane, int lanes) {
    /** These alone, whosever they are. */
    static Claim of(List<UUID> ids) {
      return new Claim(ids.size(), List.copyOf(ids), 0, 1);
    }

    UUID[] ids() {
      return only == null ? null : only.toArray(UUID[]::new);
    }
  }

  /**
   * What a transaction did.
   *
   * @param done how many of what was claimed
   * @param finalised invoices that became final
   * @param behind periods that were opened, or allocated units, and that a backfill must bring up
   *     to date
   */
  record Work(int done, int started, int ended, int finalised, int behind) {
    static final Work NONE = of(0);

    static Work of(int done) {
      return new Work(done, 0, 0, 0, 0);
    }

    Work plus(Work other) {
      return new Work(
          done + other.done,
          started + other.started,
          ended + other.ended,
          finalised + other.finalised,
          behind + other.behind);
    }
  }

  /** Whether it claims invoices; if not, subscriptions. */
  boolean isOfInvoices();

  /** Locks what is due and nobody else works on. */
  Future<List<UUID>> claim(SqlConnection tx, Attempt attempt, Claim claim);

  /** Does what was claimed, in the same transaction. */
  Future<Work> work(SqlConnection tx, Attempt attempt, List<UUID> claimed);
}

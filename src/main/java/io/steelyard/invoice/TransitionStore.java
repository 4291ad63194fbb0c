package io.steelyard.invoice;

import io.steelyard.db.Columns;
import io.steelyard.db.Ids;
import io.steelyard.db.Sql;
import io.steelyard.domain.Actor;
import io.steelyard.domain.Id;
import io.steelyard.domain.IdKind;
import io.steelyard.domain.InvoiceStatus;
import io.steelyard.domain.InvoiceTransitions;
import io.steelyard.domain.Paging;
import io.steelyard.domain.SubscriptionStatus;
import io.steelyard.domain.SubscriptionTransitions;
import io.steelyard.domain.WireName;
import io.steelyard.invoice.InvoiceMessages.TransitionView;
import io.vertx.core.Future;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.SqlClient;
import io.vertx.sqlclient.Tuple;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.UUID;

/** Changes the states of invoices, and keeps the record of every change of a state. */
public final class TransitionStore {
  // Compares and sets. The rows are taken in the order that the plan likes: a caller that changes
  // several has them locked.
  private static final String MOVE_INVOICES =
      """
      WITH moved AS (
        UPDATE invoice i
           SET status = t.to_status, updated_at = t.at,
               paused_reason = CASE t.to_status WHEN 'paused' THEN $8 END
          FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::timestamptz[])
            AS t(transition_id, id, from_status, to_status, at)
         WHERE i.merchant_id = $6 AND i.id = t.id AND i.status = t.from_status
        RETURNING t.transition_id, t.id, t.from_status, t.to_status, t.at
      )
      INSERT INTO transition (id, merchant_id, subject, subject_id, from_status, to_status, actor,
          reason, request_id, at, recorded_at)
      SELECT transition_id, $6, 'invoice', id, from_status, to_status, $7, $8, $9, at, $10
        FROM moved
      RETURNING subject_id
      """;

  private static final String RECORD =
      """
      INSERT INTO transition (id, merchant_id, subject, subject_id, from_status, to_status, actor,
          reason, request_id, at, recorded_at)
      SELECT t.transition_id, $6, $11, t.id, t.from_status, t.to_status, $7, $8, $9, t.at, $10
        FROM unnest($1::uuid[], $2::uuid[], $3::text[], $4::text[], $5::timestamptz[])
          AS t(transition_id, id, from_status, to_status, at)
      """;

  private static final String COUNT =
      """
      SELECT count(*) FROM transition
       WHERE merchant_id = $1 AND subject = 'invoice' AND subject_id = $2
      """;

  private static final String PAGE =
      """
      SELECT id, subject_id, from_status, to_status, actor, reason, request_id, at, recorded_at
        FROM transition
       WHERE merchant_id = $1 AND subject = 'invoice' AND subject_id = $2
       ORDER BY id %s
       LIMIT $3 OFFSET $4
      """;
  private static final String PAGE_ASC = PAGE.formatted("ASC");
  private static final String PAGE_DESC = PAGE.formatted("DESC");

  /**
   * One change of a state that the table of transitions allows.
   *
   * @param at by the merchant's clock
   */
  private interface Change {
    UUID id();

    WireName from();

    WireName to();

    Instant at();
  }

  /**
   * @throws IllegalArgumentException when there is no such transition
   */
  public record InvoiceChange(UUID id, InvoiceStatus from, InvoiceStatus to, Instant at)
      implements Change {
    public InvoiceChange {
      mustBeLegal(InvoiceTransitions.allows(from, to), from, to);
    }
  }

  /**
   * @throws IllegalArgumentException when there is no such transition
   */
  public record SubscriptionChange(
      UUID id, SubscriptionStatus from, SubscriptionStatus to, Instant at) implements Change {
    public SubscriptionChange {
      mustBeLegal(SubscriptionTransitions.allows(from, to), from, to);
    }
  }

  /**
   * A subscription that is set aside, or taken up again, in a state that stays its own.
   *
   * @param parked whether it is set aside
   */
  public record ParkingChange(UUID id, SubscriptionStatus status, boolean parked, Instant at)
      implements Change {
    @Override
    public WireName from() {
      return parked ? status : Parked.PARKED;
    }

    @Override
    public WireName to() {
      return parked ? Parked.PARKED : status;
    }
  }

  /** What the record calls it to be set aside, beside the states themselves. */
  private enum Parked implements WireName {
    PARKED;

    @Override
    public String wire() {
      return "parked";
    }
  }

  /**
   * Who made the changes and why.
   *
   * @param reason also what a paused invoice shows
   * @param requestId null for work that nobody asked for
   */
  public record Cause(Actor actor, String reason, String requestId, Instant systemNow) {}

  private static void mustBeLegal(boolean legal, WireName from, WireName to) {
    if (!legal) {
      throw new IllegalArgumentException("nothing goes from " + from.wire() + " to " + to.wire());
    }
  }

  /**
   * Changes the invoices that still are in the states they are to leave. Several are locked by the
   * caller, or nobody else changes them.
   *
   * @return the ids of those changed
   */
  public Future<Set<UUID>> moveInvoices(
      SqlClient tx, UUID merchantId, List<InvoiceChange> changes, Cause cause) {
    if (changes.isEmpty()) {
      return Future.succeededFuture(Set.of());
    }
    return tx.preparedQuery(MOVE_INVOICES)
        .execute(columns(changes, merchantId, cause))
        .map(
            rows -> {
              Set<UUID> moved = new HashSet<>();
              rows.forEach(row -> moved.add(row.getUUID("subject_id")));
              return moved;
            });
  }

  /** Keeps the record of changes that the caller makes itself in its transaction. */
  public Future<Void> recordInvoices(
      SqlClient tx, UUID merchantId, List<InvoiceChange> changes, Cause cause) {
    return record(tx, merchantId, "invoice", changes, cause);
  }

  /** As {@link #recordInvoices}. */
  public Future<Void> recordSubscriptions(
      SqlClient tx, UUID merchantId, List<SubscriptionChange> changes, Cause cause) {
    return record(tx, merchantId, "subscription", changes, cause);
  }

  /** As {@link #recordInvoices}. */
  public Future<Void> recordParking(
      SqlClient tx, UUID merchantId, List<ParkingChange> changes, Cause cause) {
    return record(tx, merchantId, "subscription", changes, cause);
  }

  private static Future<Void> record(
      SqlClient tx, UUID merchantId, String subject, List<? extends Change> changes, Cause cause) {
    if (changes.isEmpty()) {
      return Future.succeededFuture();
    }
    return tx.preparedQuery(RECORD)
        .execute(columns(changes, merchantId, cause).addString(subject))
        .mapEmpty();
  }

  private static Tuple columns(List<? extends Change> changes, UUID merchantId, Cause cause) {
    return new Columns<Change>(List.copyOf(changes))
        .uuids(change -> Ids.nextUuid())
        .uuids(Change::id)
        .texts(change -> change.from().wire())
        .texts(change -> change.to().wire())
        .times(Change::at)
        .and(
            merchantId,
            cause.actor().wire(),
            cause.reason(),
            cause.requestId(),
            Sql.time(cause.systemNow()));
  }

  Future<Long> count(SqlClient client, UUID merchantId, UUID invoiceId) {
    return client
        .preparedQuery(COUNT)
        .execute(Tuple.of(merchantId, invoiceId))
        .map(rows -> rows.iterator().next().getLong(0));
  }

  /** A page of an invoice's history. */
  Future<List<TransitionView>> page(
      SqlClient client, UUID merchantId, UUID invoiceId, Paging paging) {
    return client
        .preparedQuery(paging.ascending() ? PAGE_ASC : PAGE_DESC)
        .execute(Tuple.of(merchantId, invoiceId, paging.pageSize(), paging.offset()))
        .map(
            rows -> {
              List<TransitionView> page = new ArrayList<>(rows.size());
              rows.forEach(row -> page.add(view(row)));
              return page;
            });
  }

  private static TransitionView view(Row row) {
    return new TransitionView(
        Sql.id(row, "id", IdKind.TRANSITION),
        new Id(IdKind.INVOICE, row.getUUID("subject_id")),
        WireName.parse(InvoiceStatus.class, row.getString("from_status")),
        WireName.parse(InvoiceStatus.class, row.getString("to_status")),
        WireName.parse(Actor.class, row.getString("actor")),
        row.getString("reason"),
        row.getString("request_id"),
        Sql.instant(row, "at"),
        Sql.instant(row, "recorded_at"));
  }
}

package io.steelyard.db;

import io.steelyard.domain.Id;
import io.steelyard.domain.IdKind;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.Tuple;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.UUID;

/** Conversions between the database's types and ours. */
public final class Sql {
  private static final UUID NO_ROW = new UUID(0, 0);

  private Sql() {}

  /** A timestamptz parameter; null stays null. */
  public static OffsetDateTime time(Instant instant) {
    return instant == null ? null : instant.atOffset(ZoneOffset.UTC);
  }

  /** A timestamptz column; null stays null. */
  public static Instant instant(Row row, String column) {
    OffsetDateTime time = row.getOffsetDateTime(column);
    return time == null ? null : time.toInstant();
  }

  /** A uuid column as an id; null stays null. */
  public static Id id(Row row, String column, IdKind kind) {
    UUID uuid = row.getUUID(column);
    return uuid == null ? null : new Id(kind, uuid);
  }

  /** The UUID that {@code text} spells as an id of this kind, or null, which matches no row. */
  public static UUID uuid(IdKind kind, String text) {
    return Id.parse(kind, text).map(Id::uuid).orElse(null);
  }

  /** As {@link #uuid}, for a filter where null means any: what is no id is one that no row has. */
  public static UUID filter(IdKind kind, String text) {
    return text == null ? null : Id.parse(kind, text).map(Id::uuid).orElse(NO_ROW);
  }

  /** Adds a condition that the column has the value, unless that is null. */
  public static void and(String column, Object value, StringBuilder where, Tuple parameters) {
    if (value != null) {
      parameters.addValue(value);
      where.append(" AND ").append(column).append(" = $").append(parameters.size());
    }
  }
}

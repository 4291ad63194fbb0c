package io.steelyard.db;

import io.vertx.core.buffer.Buffer;
import io.vertx.sqlclient.Tuple;
import java.math.BigDecimal;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.Collection;
import java.util.List;
import java.util.UUID;
import java.util.function.Function;
import java.util.function.IntFunction;
import java.util.function.UnaryOperator;

/** The parameters of a statement over {@code unnest}: one array per column, a row per element. */
public final class Columns<T> {
  private static final int PLANNED_MIN = 16;

  private final List<T> rows;
  private final int length;
  private final Tuple tuple = Tuple.tuple();

  public Columns(Collection<T> rows) {
    this.rows = List.copyOf(rows);
    this.length = this.rows.size();
  }

  private Columns(List<T> rows, int length) {
    this.rows = rows;
    this.length = length;
  }

  /**
   * As the constructor, with rows of nulls up to a length above ten: for as many the server plans a
   * statement that is to serve every call, and for fewer it would plan each call anew since that
   * looks cheaper, at a multiple of what it takes to carry it out.
   */
  public static <T> Columns<T> planned(List<T> rows) {
    return new Columns<>(rows, Math.max(PLANNED_MIN, rows.size()));
  }

  public Columns<T> uuids(Function<T, UUID> value) {
    return add(UUID[]::new, value);
  }

  public Columns<T> bytes(Function<T, Buffer> value) {
    return add(Buffer[]::new, value);
  }

  public Columns<T> texts(Function<T, String> value) {
    return add(String[]::new, value);
  }

  public Columns<T> longs(Function<T, Long> value) {
    return add(Long[]::new, value);
  }

  public Columns<T> integers(Function<T, Integer> value) {
    return add(Integer[]::new, value);
  }

  /** As text, to be cast: the client hangs on a null within an array of numerics. */
  public Columns<T> numbers(Function<T, BigDecimal> value) {
    return texts(
        row -> {
          BigDecimal number = value.apply(row);
          return number == null ? null : number.toString();
        });
  }

  public Columns<T> booleans(Function<T, Boolean> value) {
    return add(Boolean[]::new, value);
  }

  public Columns<T> times(Function<T, Instant> value) {
    return add(OffsetDateTime[]::new, row -> Sql.time(value.apply(row)));
  }

  /** Columns that several statements have in common. */
  public Columns<T> also(UnaryOperator<Columns<T>> columns) {
    return columns.apply(this);
  }

  /** A parameter of its own behind the columns. */
  public Tuple and(Object... parameters) {
    for (Object parameter : parameters) {
      tuple.addValue(parameter);
    }
    return tuple;
  }

  private <V> Columns<T> add(IntFunction<V[]> array, Function<T, V> value) {
    V[] values = array.apply(length);
    for (int i = 0; i < rows.size(); i++) {
      values[i] = value.apply(rows.get(i));
    }
    tuple.addValue(values);
    return this;
  }
}

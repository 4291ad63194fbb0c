package io.steelyard.bench;

import io.steelyard.db.Ids;
import java.io.IOException;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/**
 * How fast PostgreSQL alone stores rows like events, durably and each key once: made by the server
 * itself, and sent by a program. In a schema that goes again.
 */
final class BareRows {
  private static final int ROWS = 1000;
  private static final int CONNECTIONS = 2;

  private static final String TABLE =
      """
      CREATE SCHEMA bare
        CREATE TABLE event (key uuid PRIMARY KEY, merchant_id uuid NOT NULL,
          customer_id uuid NOT NULL, payload_hash bigint NOT NULL,
          generated_at timestamptz NOT NULL, name text NOT NULL, user_id text, data text)
      """;

  private static final String MADE =
      """
      INSERT INTO bare.event (key, merchant_id, customer_id, payload_hash, generated_at, name,
          user_id, data)
      SELECT %s(), ?, ?, n, now(), 'request', 'user-100', '{"count":1}'
        FROM generate_series(1, 1000) AS n
      """;

  private static final String SENT =
      """
      INSERT INTO bare.event (key, merchant_id, customer_id, payload_hash, generated_at, name,
          user_id, data)
      SELECT t.key, ?, t.customer_id, t.payload_hash, t.generated_at, t.name, t.user_id, t.data
        FROM unnest(?::uuid[], ?::uuid[], ?::bigint[], ?::timestamptz[], ?::text[], ?::text[],
               ?::text[])
          AS t(key, customer_id, payload_hash, generated_at, name, user_id, data)
      """;

  private static final String HAS_UUIDV7 =
      "SELECT count(*) FROM pg_proc WHERE oid = to_regprocedure('uuidv7()')";

  /** For PostgreSQL before 18: as well ordered, and dearer. */
  private static final String UUIDV7 =
      """
      CREATE FUNCTION bare.uuidv7() RETURNS uuid LANGUAGE sql AS
        $$ SELECT encode(overlay(uuid_send(gen_random_uuid()) PLACING
             substring(int8send((extract(epoch FROM clock_timestamp()) * 1000)::bigint) FROM 3)
             FROM 1 FOR 6), 'hex')::uuid $$
      """;

  private BareRows() {}

  /** Rows per second. */
  record Rates(double made, double sent) {}

  private interface Batch {
    void insert(PreparedStatement statement) throws SQLException;
  }

  static Rates measure(ServiceProcess service, int seconds)
      throws IOException, SQLException, InterruptedException, ExecutionException {
    return new Rates(
        rate(service, MADE, BareRows::made, seconds), rate(service, SENT, BareRows::sent, seconds));
  }

  private static double rate(ServiceProcess service, String sql, Batch batch, int seconds)
      throws IOException, SQLException, InterruptedException, ExecutionException {
    try (Connection owner = service.database().superuser()) {
      Sql.execute(owner, "DROP SCHEMA IF EXISTS bare CASCADE");
      Sql.execute(owner, TABLE);
      String statement = sql.formatted(uuidv7(owner));
      loop(service, statement, batch, 1);
      double rate = loop(service, statement, batch, seconds);
      Sql.execute(owner, "DROP SCHEMA bare CASCADE");
      Sql.execute(owner, "CHECKPOINT");
      return rate;
    }
  }

  private static String uuidv7(Connection owner) throws SQLException {
    if (Sql.number(owner, HAS_UUIDV7) > 0) {
      return "uuidv7";
    }
    Sql.execute(owner, UUIDV7);
    return "bare.uuidv7";
  }

  private static double loop(ServiceProcess service, String sql, Batch batch, int seconds)
      throws InterruptedException, ExecutionException {
    long startedAt = System.nanoTime();
    long until = startedAt + TimeUnit.SECONDS.toNanos(seconds);
    Callable<Long> inserts =
        () -> {
          long rows = 0;
          try (Connection connection = service.database().superuser();
              PreparedStatement statement = connection.prepareStatement(sql)) {
            while (System.nanoTime() < until) {
              batch.insert(statement);
              rows += ROWS;
            }
          }
          return rows;
        };
    try (ExecutorService threads = Executors.newFixedThreadPool(CONNECTIONS)) {
      List<Future<Long>> all = new ArrayList<>();
      for (int i = 0; i < CONNECTIONS; i++) {
        all.add(threads.submit(inserts));
      }
      long rows = 0;
      for (Future<Long> each : all) {
        rows += each.get();
      }
      return rows / ((System.nanoTime() - startedAt) / 1e9);
    }
  }

  private static void made(PreparedStatement statement) throws SQLException {
    statement.setObject(1, UUID.randomUUID());
    statement.setObject(2, UUID.randomUUID());
    statement.executeUpdate();
  }

  private static void sent(PreparedStatement statement) throws SQLException {
    UUID[] keys = new UUID[ROWS];
    UUID[] customers = new UUID[ROWS];
    Long[] hashes = new Long[ROWS];
    OffsetDateTime[] times = new OffsetDateTime[ROWS];
    String[] names = new String[ROWS];
    String[] users = new String[ROWS];
    String[] data = new String[ROWS];
    OffsetDateTime now = OffsetDateTime.now(ZoneOffset.UTC);
    for (int i = 0; i < ROWS; i++) {
      keys[i] = Ids.nextUuid();
      customers[i] = keys[0];
      hashes[i] = keys[i].getLeastSignificantBits();
      times[i] = now;
      names[i] = EventRequests.NAME;
      users[i] = "user-100";
      data[i] = "{\"count\":1}";
    }
    Connection connection = statement.getConnection();
    statement.setObject(1, keys[0]);
    statement.setArray(2, connection.createArrayOf("uuid", keys));
    statement.setArray(3, connection.createArrayOf("uuid", customers));
    statement.setArray(4, connection.createArrayOf("bigint", hashes));
    statement.setArray(5, connection.createArrayOf("timestamptz", times));
    statement.setArray(6, connection.createArrayOf("text", names));
    statement.setArray(7, connection.createArrayOf("text", users));
    statement.setArray(8, connection.createArrayOf("text", data));
    statement.executeUpdate();
  }
}

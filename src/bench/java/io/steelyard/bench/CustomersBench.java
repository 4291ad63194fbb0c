package io.steelyard.bench;

import com.fasterxml.jackson.databind.JsonNode;
import io.steelyard.domain.Id;
import io.steelyard.domain.IdKind;
import java.sql.Connection;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;

/** Creates customers with a default plan, units and a first invoice, one a request. */
final class CustomersBench {
  private static final int BARE_BATCH = 16;
  private static final int BARE_CUSTOMERS = 8000;
  private static final double TARGET = 2500;

  private CustomersBench() {}

  static void run(Bench.Options options, Figures figures) throws Exception {
    try (ServiceProcess service = ServiceProcess.start(options, Map.of());
        Connection database = service.database().connect()) {
      JsonNode merchant = service.merchant("live");
      String id = merchant.get("id").asText();
      service.applyCatalog(id, Catalogs.CUSTOMERS);
      Requests posts =
          Requests.posts(
              "/external/customers",
              merchant.get("apiKey").get("key").asText(),
              new AtomicLong(),
              CustomersBench::body);
      int connections = options.connections(32);
      int seconds = options.seconds(30);
      Load.Settings settings =
          Load.Settings.closed(service.port, connections, seconds, () -> posts);
      Measured warmUp = Load.run(settings.seconds(options.warmUpSeconds())).requireOnly(201);
      ServiceProcess.Work before = service.work();
      Measured measured = Load.run(settings).requireOnly(201);
      ServiceProcess.Work work = service.work().since(before);
      Measured alone =
          Load.run(Load.Settings.closed(service.port, 1, Math.max(1, seconds / 6), () -> posts))
              .requireOnly(201);
      long created = warmUp.answers() + measured.answers() + alone.answers();
      UUID uuid = Id.parse(IdKind.MERCHANT, id).orElseThrow().uuid();
      check(database, uuid, created);
      double bare = bare(service);
      new Report("POST /external/customers: default plan, allocation, first invoice")
          .surroundings(database, options.heap())
          .add(
              "requests",
              "%.0f/s over %d connections for %d s after %d s (target %.0f/s)",
              measured.perSecond(),
              connections,
              seconds,
              options.warmUpSeconds(),
              TARGET)
          .add(
              "latency",
              "p50 %.1f ms, p99 %.1f ms",
              measured.percentileMs(0.5),
              measured.percentileMs(0.99))
          .add("work for one", "%s", work.each(measured.answers()))
          .add(
              "one connection",
              "%.0f/s, p50 %.1f ms, p99 %.1f ms",
              alone.perSecond(),
              alone.percentileMs(0.5),
              alone.percentileMs(0.99))
          .add(
              "bare rows",
              "%.0f customers/s: the same rows by one JDBC connection, %d customers a transaction;"
                  + " the service reaches %.0f %%",
              bare,
              BARE_BATCH,
              100 * measured.perSecond() / bare)
          .add("memory", "service %.0f MiB at its peak", service.peakBytes() / 1048576.0)
          .add("checked", "%d customers, each with one of each row, numbers without gaps", created)
          .print();
      figures.atLeast("customers", measured.perSecond(), TARGET, "requests/s", "customers/s", bare);
    }
  }

  private static String body(long number) {
    return "{\"externalId\":\"customer-"
        + number
        + "\",\"name\":\"Customer\",\"email\":\"customer"
        + number
        + "@example.com\"}";
  }

  private static void check(Connection database, UUID merchant, long created) throws Exception {
    for (String table :
        new String[] {
          "customer", "subscription", "subscription_period", "invoice", "allocation_block"
        }) {
      long rows =
          Sql.number(
              database, "SELECT count(*) FROM " + table + " WHERE merchant_id = ?", merchant);
      if (rows != created) {
        throw new IllegalStateException(table + ": " + rows + " rows for " + created);
      }
    }
    long last =
        Sql.number(database, "SELECT max(vanity_id) FROM invoice WHERE merchant_id = ?", merchant);
    if (last != created) {
      throw new IllegalStateException("the last number is " + last + ", not " + created);
    }
  }

  private static double bare(ServiceProcess service) throws Exception {
    String id = service.merchant("live").get("id").asText();
    service.applyCatalog(id, Catalogs.CUSTOMERS);
    try (Connection connection = service.database().connect()) {
      connection.setAutoCommit(false);
      Rows rows =
          new Rows(
              connection,
              Rows.Seller.of(
                  connection,
                  Id.parse(IdKind.MERCHANT, id).orElseThrow().uuid(),
                  OffsetDateTime.now(ZoneOffset.UTC)));
      long startedAt = 0;
      for (int done = -BARE_CUSTOMERS / 4; done < BARE_CUSTOMERS; done += BARE_BATCH) {
        if (done == 0) {
          startedAt = System.nanoTime();
        }
        rows.begin(rows.subscribe(BARE_BATCH));
        connection.commit();
      }
      return BARE_CUSTOMERS / ((System.nanoTime() - startedAt) / 1e9);
    }
  }
}

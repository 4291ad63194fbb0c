package io.steelyard.bench;

import com.fasterxml.jackson.databind.JsonNode;
import io.steelyard.domain.Id;
import io.steelyard.domain.IdKind;
import java.sql.Connection;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;

/** Creates subscriptions by 1,000 a request. */
final class SubscriptionsBench {
  private static final int BULK = 1000;
  private static final int CONNECTIONS = 4;
  private static final int CUSTOMERS = 20_000;
  private static final int BARE_BULKS = 20;
  private static final double TARGET = 8000;

  private SubscriptionsBench() {}

  static void run(Bench.Options options, Figures figures) throws Exception {
    try (ServiceProcess service = ServiceProcess.start(options, Map.of());
        Connection database = service.database().connect()) {
      JsonNode merchant = service.merchant("live");
      String id = merchant.get("id").asText();
      JsonNode catalog = service.applyCatalog(id, Catalogs.BILLING);
      UUID uuid = Id.parse(IdKind.MERCHANT, id).orElseThrow().uuid();
      database.setAutoCommit(false);
      Rows rows =
          new Rows(database, Rows.Seller.of(database, uuid, OffsetDateTime.now(ZoneOffset.UTC)));
      List<String> bodies = bodies(rows, catalog.get("plans").get(0).get("id").asText());
      database.commit();
      Requests posts =
          Requests.posts(
              "/external/subscriptions/bulk",
              merchant.get("apiKey").get("key").asText(),
              new AtomicLong(),
              n -> bodies.get((int) (n % bodies.size())));
      int seconds = options.seconds(30);
      Load.Settings settings =
          Load.Settings.closed(service.port, CONNECTIONS, seconds, () -> posts);
      long prepared = count(database, uuid);
      Measured warmUp = Load.run(settings.seconds(options.warmUpSeconds())).requireOnly(201);
      ServiceProcess.Work before = service.work();
      Measured measured = Load.run(settings).requireOnly(201);
      ServiceProcess.Work work = service.work().since(before);
      long created = count(database, uuid) - prepared;
      long expected = (long) BULK * (warmUp.answers() + measured.answers());
      if (created != expected) {
        throw new IllegalStateException(created + " subscriptions for " + expected);
      }
      double bare = bare(database, rows);
      new Report("POST /external/subscriptions/bulk of " + BULK)
          .surroundings(database, options.heap())
          .add(
              "subscriptions",
              "%.0f/s over %d connections for %d s after %d s (target %.0f/s)",
              BULK * measured.perSecond(),
              CONNECTIONS,
              seconds,
              options.warmUpSeconds(),
              TARGET)
          .add(
              "latency",
              "p50 %.0f ms, p99 %.0f ms",
              measured.percentileMs(0.5),
              measured.percentileMs(0.99))
          .add("work for one", "%s", work.each(BULK * measured.answers()))
          .add(
              "bare rows",
              "%.0f subscriptions/s: the same rows by one JDBC connection, %d a transaction;"
                  + " the service reaches %.0f %%",
              bare,
              BULK,
              100 * BULK * measured.perSecond() / bare)
          .add("memory", "service %.0f MiB at its peak", service.peakBytes() / 1048576.0)
          .add("checked", "%d subscriptions, as many as were answered", created)
          .print();
      figures.atLeast(
          "subscriptions in bulk",
          BULK * measured.perSecond(),
          TARGET,
          "a second",
          "a second",
          bare);
    }
  }

  private static long count(Connection database, UUID merchant) throws Exception {
    long count =
        Sql.number(database, "SELECT count(*) FROM subscription WHERE merchant_id = ?", merchant);
    database.commit();
    return count;
  }

  private static List<String> bodies(Rows rows, String planId) throws Exception {
    List<String> bodies = new ArrayList<>();
    for (int done = 0; done < CUSTOMERS; done += BULK) {
      StringBuilder body = new StringBuilder("[");
      for (UUID customer : rows.customers(BULK)) {
        body.append(body.length() > 1 ? "," : "")
            .append("{\"customerId\":\"")
            .append(new Id(IdKind.CUSTOMER, customer))
            .append("\",\"planId\":\"")
            .append(planId)
            .append("\"}");
      }
      bodies.add(body.append(']').toString());
    }
    return bodies;
  }

  private static double bare(Connection database, Rows rows) throws Exception {
    List<List<UUID>> customers = new ArrayList<>();
    for (int i = 0; i < 2 * BARE_BULKS; i++) {
      customers.add(rows.customers(BULK));
    }
    database.commit();
    long startedAt = 0;
    for (int i = 0; i < customers.size(); i++) {
      if (i == BARE_BULKS) {
        startedAt = System.nanoTime();
      }
      rows.firstInvoices(rows.subscriptions(customers.get(i)));
      database.commit();
    }
    return BULK * BARE_BULKS / ((System.nanoTime() - startedAt) / 1e9);
  }
}

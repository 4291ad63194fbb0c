package io.steelyard.bench;

import io.steelyard.domain.Id;
import io.steelyard.domain.IdKind;
import java.sql.Connection;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;

/**
 * One billing run over monthly subscriptions that all reach their boundary at once. They are
 * prepared by SQL; the run is the service's own, begun by setting the merchant's clock.
 */
final class BillingBench {
  private static final OffsetDateTime START = OffsetDateTime.parse("2030-01-01T00:00:00Z");
  private static final String PAST_GRACE = "2030-02-01T12:00:01.000Z";
  private static final int PREPARED_AT_ONCE = 5000;
  private static final int BARE_BATCH = 200;
  private static final int BARE_MAX = 20_000;
  private static final double TARGET = 3000;
  private static final double MIB = 1048576;

  private static final String CHECK =
      """
      SELECT (SELECT count(*) FROM invoice
               WHERE merchant_id = ? AND boundary_index = 1 AND status = 'test' AND total = 29),
             (SELECT count(*) FROM invoice WHERE merchant_id = ?),
             (SELECT count(DISTINCT subscription_id) FROM invoice WHERE merchant_id = ?),
             (SELECT max(vanity_id) FROM invoice WHERE merchant_id = ?),
             (SELECT count(*) FROM invoice_line_item WHERE merchant_id = ?) / 3,
             (SELECT sum(amount) FROM invoice_line_item WHERE merchant_id = ?) / 29
      """;

  private static final int WARM_UP = 5000;

  private BillingBench() {}

  private record Run(
      int subscriptions,
      double seconds,
      ServiceProcess.Work work,
      long serviceBytes,
      long postgresBytes) {
    double microsEach() {
      return seconds * 1e6 / subscriptions;
    }
  }

  static void run(Bench.Options options, Figures figures) throws Exception {
    List<Run> runs = new ArrayList<>();
    double bare = 0;
    for (int i = 0; i < options.subscriptions().size(); i++) {
      boolean last = i == options.subscriptions().size() - 1;
      bare = run(options, options.subscriptions().get(i), runs, last);
    }
    Run run = runs.getLast();
    figures.atLeast(
        "invoices of a billing run",
        run.subscriptions() / run.seconds(),
        TARGET,
        "a second",
        "a second",
        bare);
  }

  /** The rate of the bare rows after the last run, else 0. */
  private static double run(Bench.Options options, int subscriptions, List<Run> runs, boolean last)
      throws Exception {
    Map<String, String> settings = Map.of("timeouts.clockMs", "3600000");
    try (ServiceProcess service = ServiceProcess.start(options, settings);
        Connection database = service.database().connect()) {
      warmUp(service, database);
      String id = merchant(service);
      UUID uuid = Id.parse(IdKind.MERCHANT, id).orElseThrow().uuid();
      prepare(database, uuid, subscriptions);
      service.database().settle();
      ServiceProcess.Work before = service.work();
      long startedAt = System.nanoTime();
      try (Memory.Sampler postgres = service.database().sampleMemory()) {
        double seconds;
        try (Activity activity = new Activity(service.database().connect())) {
          service.setClock(id, PAST_GRACE);
          seconds = (System.nanoTime() - startedAt) / 1e9;
          activity.top().forEach(System.out::println);
        }
        ServiceProcess.Work work = service.work().since(before);
        runs.add(new Run(subscriptions, seconds, work, service.peakBytes(), postgres.peakBytes()));
      }
      check(database, uuid, subscriptions);
      System.out.printf("%d subscriptions: %.1f s%n", subscriptions, runs.getLast().seconds());
      if (!last) {
        return 0;
      }
      double bare = bare(service, Math.min(subscriptions, BARE_MAX));
      report(options, database, runs, bare);
      return bare;
    }
  }

  /** A run of another merchant's, for Java to have compiled what it runs. */
  private static void warmUp(ServiceProcess service, Connection database) throws Exception {
    String id = merchant(service);
    prepare(database, Id.parse(IdKind.MERCHANT, id).orElseThrow().uuid(), WARM_UP);
    service.setClock(id, PAST_GRACE);
  }

  private static String merchant(ServiceProcess service) throws Exception {
    String id = service.merchant("test").get("id").asText();
    service.applyCatalog(id, Catalogs.BILLING);
    service.setClock(id, START.toInstant().toString());
    return id;
  }

  private static void prepare(Connection database, UUID merchant, int subscriptions)
      throws Exception {
    Rows rows = new Rows(database, Rows.Seller.of(database, merchant, START));
    for (int done = 0; done < subscriptions; done += PREPARED_AT_ONCE) {
      rows.count(rows.subscribe(Math.min(PREPARED_AT_ONCE, subscriptions - done)));
    }
  }

  private static void check(Connection database, UUID merchant, int subscriptions)
      throws Exception {
    try (var statement = database.prepareStatement(CHECK)) {
      for (int i = 1; i <= 6; i++) {
        statement.setObject(i, merchant);
      }
      try (var row = statement.executeQuery()) {
        row.next();
        for (int i = 1; i <= 6; i++) {
          if (row.getBigDecimal(i) == null
              || row.getBigDecimal(i).intValueExact() != subscriptions) {
            throw new IllegalStateException(
                "number %d of the check is %s, not %d"
                    .formatted(i, row.getString(i), subscriptions));
          }
        }
      }
    }
  }

  /** Rows of as many subscriptions of another merchant, which stand still since its clock does. */
  private static double bare(ServiceProcess service, int subscriptions) throws Exception {
    UUID merchant = Id.parse(IdKind.MERCHANT, merchant(service)).orElseThrow().uuid();
    try (Connection connection = service.database().connect()) {
      connection.setAutoCommit(false);
      Rows rows = new Rows(connection, Rows.Seller.of(connection, merchant, START));
      List<Rows.Made> batches = new ArrayList<>();
      for (int done = 0; done < subscriptions; done += BARE_BATCH) {
        Rows.Made made = rows.subscribe(Math.min(BARE_BATCH, subscriptions - done));
        rows.count(made);
        batches.add(made);
      }
      connection.commit();
      long startedAt = System.nanoTime();
      for (Rows.Made batch : batches) {
        rows.pass(batch);
        connection.commit();
      }
      return subscriptions / ((System.nanoTime() - startedAt) / 1e9);
    }
  }

  private static void report(
      Bench.Options options, Connection database, List<Run> runs, double bare) throws Exception {
    Report report =
        new Report("Billing run: monthly, one base price and two usage prices, three lines each")
            .surroundings(database, options.heap());
    for (Run run : runs) {
      report.add(
          run.subscriptions() + " subscriptions",
          "%.0f invoices/s finalised, %.1f s, %.0f us each (%s); peak memory %.0f MiB"
              + " service, %.0f MiB PostgreSQL",
          run.subscriptions() / run.seconds(),
          run.seconds(),
          run.microsEach(),
          run.work().each(run.subscriptions()),
          run.serviceBytes() / MIB,
          run.postgresBytes() / MIB);
    }
    double first = runs.getFirst().microsEach();
    report
        .add(
            "flatness",
            "an invoice of the largest run costs %.2f times one of the first",
            runs.getLast().microsEach() / first)
        .add("target", "%.0f invoices/s, memory below 1 GiB", TARGET)
        .add(
            "bare rows",
            "%.0f invoices/s: the same rows by one JDBC connection, %d subscriptions a transaction;"
                + " the last run reaches %.0f %%",
            bare,
            BARE_BATCH,
            100 * runs.getLast().subscriptions() / runs.getLast().seconds() / bare)
        .add("checked", "each subscription has one final invoice of 29.00 in three lines")
        .add(
            "prepared",
            "customers, subscriptions, periods, access and counters by SQL; before it, a run of "
                + WARM_UP
                + " of another merchant's")
        .print();
  }
}

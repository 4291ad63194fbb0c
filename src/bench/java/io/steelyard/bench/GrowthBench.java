package io.steelyard.bench;

import java.sql.Connection;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Whether events are taken as fast when many are stored, and the room that one takes. */
final class GrowthBench {
  private static final int EVENTS_EACH = 100;
  private static final int STEPS = 50;
  private static final int COMPARED = 3;
  private static final int STEP_SECONDS_MAX = 3600;
  private static final double BYTES = 300;
  private static final double ORDERED = 0.85;
  private static final double RANDOM = 0.6;

  private static final String SIZE = "SELECT pg_database_size(current_database())";

  private static final String LARGEST =
      """
      SELECT string_agg(name || ' ' || bytes / ?, ', ' ORDER BY bytes DESC)
        FROM (SELECT coalesce(p.inhparent, c.oid)::regclass::text AS name,
                     sum(pg_total_relation_size(c.oid))::bigint AS bytes
                FROM pg_class c LEFT JOIN pg_inherits p ON p.inhrelid = c.oid
               WHERE c.relkind = 'r' AND c.relnamespace = 'public'::regnamespace
               GROUP BY 1 ORDER BY 2 DESC LIMIT 5) AS largest
      """;

  private GrowthBench() {}

  /** One step of filling. */
  private record Step(double perSecond, ServiceProcess.Work work, long events) {}

  static void run(Bench.Options options, Figures figures, EventRequests.Keys keys)
      throws Exception {
    int total = options.events(50_000_000, 400_000);
    long requests = Math.max(1, total / STEPS / EVENTS_EACH);
    try (ServiceProcess service = ServiceProcess.start(options, Map.of());
        Connection database = service.database()) {
      Metered merchant = Metered.start(service, options.customers());
      Load.Settings settings =
          Load.Settings.closed(
              service.port,
              options.connections(16),
              STEP_SECONDS_MAX,
              merchant.events(EVENTS_EACH, keys));
      long empty = Sql.number(database, SIZE);
      Acknowledged acknowledged = new Acknowledged();
      acknowledged.add(
          Load.run(settings.seconds(options.warmUpSeconds())).requireOnly(202), EVENTS_EACH);
      List<Step> steps = new ArrayList<>();
      for (int i = 0; i < STEPS; i++) {
        steps.add(fill(service, settings.most(requests), acknowledged));
        System.out.printf(
            "%,d events stored, %,.0f events/s, %s%n",
            acknowledged.events(),
            steps.getLast().perSecond(),
            steps.getLast().work().each(steps.getLast().events()));
      }
      String checked = acknowledged.check(service);
      try (Connection superuser = service.superuser()) {
        Sql.execute(superuser, "CHECKPOINT");
      }
      double bytes = (double) (Sql.number(database, SIZE) - empty) / acknowledged.events();
      report(options, database, figures, keys, steps, bytes, acknowledged, checked);
    }
  }

  private static Step fill(
      ServiceProcess service, Load.Settings settings, Acknowledged acknowledged) throws Exception {
    ServiceProcess.Work before = service.work();
    Measured measured = Load.run(settings).requireOnly(202);
    acknowledged.add(measured, EVENTS_EACH);
    return new Step(
        measured.acceptedPerSecond(), service.work().since(before), measured.accepted());
  }

  private static double mean(List<Step> steps) {
    double seconds = 0;
    long events = 0;
    for (Step step : steps) {
      seconds += step.events() / step.perSecond();
      events += step.events();
    }
    return events / seconds;
  }

  private static void report(
      Bench.Options options,
      Connection database,
      Figures figures,
      EventRequests.Keys keys,
      List<Step> steps,
      double bytes,
      Acknowledged acknowledged,
      String checked)
      throws Exception {
    boolean ordered = keys == EventRequests.Keys.ORDERED;
    String name = ordered ? "time-ordered keys" : "random keys";
    double first = mean(steps.subList(0, COMPARED));
    double last = mean(steps.subList(STEPS - COMPARED, STEPS));
    new Report("Growth to %,d events, %s".formatted(acknowledged.events(), name))
        .surroundings(database, options.heap())
        .add(
            "rate",
            "%.0f events/s in the first %d of %d steps, %.0f in the last, %.0f over all",
            first,
            COMPARED,
            STEPS,
            last,
            mean(steps))
        .add("work for one, first", "%s", steps.getFirst().work().each(steps.getFirst().events()))
        .add("work for one, last", "%s", steps.getLast().work().each(steps.getLast().events()))
        .add(
            "database for one",
            "%.0f bytes; of them %s",
            bytes,
            Sql.text(database, LARGEST, acknowledged.events()))
        .add("checked", "%s", checked)
        .print();
    figures
        .atLeast("full against empty, " + name, last / first, ordered ? ORDERED : RANDOM, "")
        .atMost("database for one event, " + name, bytes, BYTES, "bytes");
  }
}

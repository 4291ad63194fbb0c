package io.steelyard.bench;

import java.util.ArrayList;
import java.util.List;

/** Whether events are taken as fast when many are stored, and the room that one takes. */
final class GrowthBench {
  private static final int EVENTS_EACH = 100;
  private static final int CONNECTIONS = 16;
  private static final int STEPS = 50;
  private static final int COMPARED = 3;
  private static final int STEP_SECONDS_MAX = 3600;
  private static final double BYTES = 300;
  private static final double ORDERED = 0.85;
  private static final double RANDOM = 0.6;

  private static final String SIZE = "SELECT pg_database_size(current_database())";

  /** Partitions together. */
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

  /** One part of the filling. */
  private record Step(double seconds, long events, ServiceProcess.Work work) {}

  static void run(Bench.Options options, Figures figures) throws Exception {
    int total = options.events(50_000_000, 100_000);
    long requests = Math.max(1, total / STEPS / EVENTS_EACH);
    try (Trial trial = Trial.start(options)) {
      Load.Settings settings =
          trial.closed(
              trial.merchant(), EVENTS_EACH, options.connections(CONNECTIONS), STEP_SECONDS_MAX);
      long empty = Sql.number(trial.database(), SIZE);
      trial.warmUp(settings, EVENTS_EACH);
      List<Step> steps = new ArrayList<>();
      for (int i = 0; i < STEPS; i++) {
        steps.add(fill(trial, settings.most(requests)));
      }
      String checked = trial.check();
      trial.service.database().checkpoint();
      double bytes = (double) (Sql.number(trial.database(), SIZE) - empty) / trial.events();
      report(trial, steps, bytes, checked);
      figures(options, figures, steps, bytes);
    }
  }

  private static Step fill(Trial trial, Load.Settings settings) throws Exception {
    ServiceProcess.Work before = trial.service.work();
    Measured measured = trial.taken(settings, EVENTS_EACH);
    Step step =
        new Step(measured.seconds(), measured.accepted(), trial.service.work().since(before));
    System.out.printf(
        "%,d events stored, %,.0f events/s, %s%n",
        trial.events(), perSecond(List.of(step)), step.work().each(step.events()));
    return step;
  }

  private static double perSecond(List<Step> steps) {
    return steps.stream().mapToLong(Step::events).sum()
        / steps.stream().mapToDouble(Step::seconds).sum();
  }

  private static List<Step> first(List<Step> steps) {
    return steps.subList(0, COMPARED);
  }

  private static List<Step> last(List<Step> steps) {
    return steps.subList(STEPS - COMPARED, STEPS);
  }

  private static void report(Trial trial, List<Step> steps, double bytes, String checked)
      throws Exception {
    trial
        .report("Growth to %,d events, %s", trial.events(), name(trial.options))
        .add(
            "rate",
            "%.0f events/s in the first %d of %d steps, %.0f in the last, %.0f over all",
            perSecond(first(steps)),
            COMPARED,
            STEPS,
            perSecond(last(steps)),
            perSecond(steps))
        .add("work for one, first", "%s", steps.getFirst().work().each(steps.getFirst().events()))
        .add("work for one, last", "%s", steps.getLast().work().each(steps.getLast().events()))
        .add(
            "database for one",
            "%.0f bytes; of them %s",
            bytes,
            Sql.text(trial.database(), LARGEST, trial.events()))
        .add("memory", "service %.0f MiB at its peak", trial.peakMib())
        .add("checked", "%s", checked)
        .print();
  }

  private static String name(Bench.Options options) {
    return options.keys() == EventRequests.Keys.ORDERED ? "time-ordered keys" : "random keys";
  }

  private static void figures(
      Bench.Options options, Figures figures, List<Step> steps, double bytes) {
    double target = options.keys() == EventRequests.Keys.ORDERED ? ORDERED : RANDOM;
    figures
        .atLeast(
            "full against empty, " + name(options),
            perSecond(last(steps)) / perSecond(first(steps)),
            target,
            "")
        .atMost("database for one event, " + name(options), bytes, BYTES, "bytes");
  }
}

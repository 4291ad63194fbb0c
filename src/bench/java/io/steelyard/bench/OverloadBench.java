package io.steelyard.bench;

import java.util.Locale;

/** What becomes of the service when ten times as much is sent as it can take. */
final class OverloadBench {
  private static final int EVENTS_EACH = 100;
  private static final int TIMES = 10;
  private static final int SECONDS = 30;
  private static final int CONNECTIONS = 128;
  private static final int CONNECTIONS_OVERLOADED = 2048;
  private static final double OF_BEST = 0.8;
  private static final double MEMORY_MIB = 700;

  private OverloadBench() {}

  private record Run(Measured measured, ServiceProcess.Work work) {
    double serviceMicrosEach() {
      return (double) work.service() / measured.accepted();
    }
  }

  static void run(Bench.Options options, Figures figures) throws Exception {
    try (Trial trial = Trial.start(options)) {
      Metered merchant = trial.merchant();
      int seconds = options.seconds(SECONDS);
      Load.Settings closed = trial.closed(merchant, EVENTS_EACH, CONNECTIONS, seconds);
      trial.warmUp(closed, EVENTS_EACH);
      Run best = measure(trial, closed);
      Run overload =
          measure(
              trial,
              trial.open(
                  merchant,
                  EVENTS_EACH,
                  options.connections(CONNECTIONS_OVERLOADED),
                  TIMES * best.measured().perSecond(),
                  seconds));
      report(trial, best, overload);
      figures
          .atLeast("accepted under overload, of the best rate", ofBest(best, overload), OF_BEST, "")
          .atMost("refusals without Retry-After", overload.measured().withoutRetryAfter(), 0, "")
          .atMost("memory under overload", trial.peakMib(), MEMORY_MIB, "MiB");
    }
  }

  private static Run measure(Trial trial, Load.Settings settings) throws Exception {
    ServiceProcess.Work before = trial.service.work();
    Measured measured = trial.acknowledge(Load.run(settings), EVENTS_EACH);
    return new Run(measured, trial.service.work().since(before));
  }

  private static double ofBest(Run best, Run overload) {
    return overload.measured().acceptedPerSecond() / best.measured().acceptedPerSecond();
  }

  private static void report(Trial trial, Run best, Run overload) throws Exception {
    Measured measured = overload.measured();
    String checked = trial.check();
    trial
        .report("Overload: %d times the best rate, bodies of %d", TIMES, EVENTS_EACH)
        .add(
            "best rate",
            "%.0f events/s, %s",
            best.measured().acceptedPerSecond(),
            best.measured().latency())
        .add(
            "overloaded",
            "%.0f events/s accepted, %.2f of the best; %s",
            measured.acceptedPerSecond(),
            ofBest(best, overload),
            measured.outcomes())
        .add("  answered", "%s", measured.latency())
        .add("  work for one accepted", "%s", overload.work().each(measured.accepted()))
        .add("  work for one refused", "%s", refusalWork(best, overload))
        .add(
            "  refusals",
            "%d, %d of them without Retry-After",
            measured.refused(),
            measured.withoutRetryAfter())
        .add("memory", "service %.0f MiB at its peak", trial.peakMib())
        .add("checked", "%s", checked)
        .print();
  }

  /** What is left when an accepted event is taken to cost what it did without overload. */
  private static String refusalWork(Run best, Run overload) {
    double accepting = best.serviceMicrosEach() * overload.measured().accepted();
    double rest = overload.work().service() - accepting;
    long refused = overload.measured().refused();
    return refused * EVENTS_EACH < overload.measured().accepted()
        ? "cannot be told: fewer were refused than accepted"
        : String.format(
            Locale.ROOT,
            "about %.0f us of a processor in the service for a body of %d",
            rest / refused,
            EVENTS_EACH);
  }
}

package io.steelyard.bench;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;

/**
 * Runs the benchmarks that {@code -Dbench} names, or all of them, and prints one table. {@code
 * short} are those of events in about two minutes; {@code -Dsmall=true} makes any short.
 */
public final class Bench {
  private static final List<String> EVENTS =
      List.of(
          "ingest",
          "single",
          "latency",
          "reads",
          "fairness",
          "overload",
          "growth",
          "growth-random");

  private static final List<String> OTHERS =
      List.of("jmh", "customers", "subscriptions", "billing", "cluster");

  private Bench() {}

  /**
   * What {@code -D} may set.
   *
   * @param small whether to show that all works rather than what it reaches
   */
  record Options(List<String> which, boolean small, EventRequests.Keys keys) {
    static Options read() {
      String bench = System.getProperty("bench", "all");
      boolean small = bench.equals("short") || Boolean.getBoolean("small");
      return new Options(
          switch (bench) {
            case "short" -> EVENTS;
            case "all" -> Stream.concat(EVENTS.stream(), OTHERS.stream()).toList();
            default -> List.of(bench.split(","));
          },
          small,
          EventRequests.Keys.valueOf(text("keys", "ordered").toUpperCase(Locale.ROOT)));
    }

    Options randomKeys() {
      return new Options(which, small, EventRequests.Keys.RANDOM);
    }

    List<Integer> subscriptions() {
      return Stream.of(text("subscriptions", small ? "3000,10000" : "100000").split(","))
          .map(Integer::valueOf)
          .toList();
    }

    /**
     * @param otherwise what suits the benchmark
     */
    int connections(int otherwise) {
      return number("connections", otherwise);
    }

    /**
     * @param otherwise what suits the benchmark when it is not short
     */
    int seconds(int otherwise) {
      return number("seconds", small ? 3 : otherwise);
    }

    int warmUpSeconds() {
      return number("warmUpSeconds", small ? 2 : 15);
    }

    int bareSeconds() {
      return number("bareSeconds", small ? 1 : 8);
    }

    int customers() {
      return number("customers", 1000);
    }

    /** Events to store, where that is what is measured. */
    int events(int otherwise, int whenSmall) {
      return number("events", small ? whenSmall : otherwise);
    }

    /** Events a second, where the rate is fixed. */
    double rate(double otherwise) {
      return number("rate", (int) otherwise);
    }

    String heap() {
      return text("heap", "512m");
    }

    /** Empty where the service has its embedded one. */
    String databaseUrl() {
      return text("database.url", "");
    }

    /** Of the database that is named. */
    String distribution() {
      return text("database.distribution", "none");
    }

    Path directory() {
      return Path.of(text("directory", "target/bench/run")).toAbsolutePath();
    }

    private static int number(String name, int otherwise) {
      return Integer.parseInt(text(name, Integer.toString(otherwise)));
    }

    /** Maven passes what is not given as nothing. */
    private static String text(String name, String otherwise) {
      String given = System.getProperty(name, "");
      return given.isBlank() ? otherwise : given;
    }
  }

  public static void main(String[] args) throws InterruptedException {
    Options options = Options.read();
    Figures figures = new Figures();
    List<String> failed = new ArrayList<>();
    for (String which : options.which()) {
      try {
        run(which, options, figures);
      } catch (InterruptedException e) {
        throw e;
      } catch (Exception e) {
        // the others are worth the hours they take all the same
        e.printStackTrace();
        failed.add(which);
      }
    }
    figures.print();
    if (!failed.isEmpty()) {
      System.out.println("failed: " + String.join(", ", failed));
      System.exit(1);
    }
  }

  private static void run(String which, Options options, Figures figures) throws Exception {
    switch (which) {
      case "ingest" -> IngestBench.many(options, figures);
      case "single" -> IngestBench.single(options, figures);
      case "latency" -> LatencyBench.run(options, figures);
      case "reads" -> ReadsBench.run(options, figures);
      case "fairness" -> FairnessBench.run(options, figures);
      case "overload" -> OverloadBench.run(options, figures);
      case "growth" -> GrowthBench.run(options, figures);
      case "growth-random" -> GrowthBench.run(options.randomKeys(), figures);
      case "jmh" -> Micro.run(options);
      case "customers" -> CustomersBench.run(options, figures);
      case "subscriptions" -> SubscriptionsBench.run(options, figures);
      case "billing" -> BillingBench.run(options, figures);
      case "cluster" -> ClusterBench.run(options, figures);
      default -> throw new IllegalArgumentException("there is no benchmark " + which);
    }
  }
}

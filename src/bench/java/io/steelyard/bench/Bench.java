package io.steelyard.bench;

import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** Runs the benchmark that {@code -Dbench} names, or all of them. */
public final class Bench {
  private static final List<String> SHORT = List.of("customers", "subscriptions", "billing");

  private Bench() {}

  /** What {@code -D} may set; {@code short} are small numbers for about two minutes in all. */
  record Options(
      List<String> which,
      List<Integer> subscriptions,
      int connections,
      int seconds,
      int warmUpSeconds,
      String heap,
      Path directory) {
    static Options read() {
      String bench = System.getProperty("bench", "all");
      boolean small = bench.equals("short");
      return new Options(
          small || bench.equals("all") ? SHORT : List.of(bench.split(",")),
          numbers(System.getProperty("subscriptions", ""), small ? "3000,10000" : "100000"),
          Integer.getInteger("connections", 32),
          Integer.getInteger("seconds", small ? 10 : 30),
          Integer.getInteger("warmUpSeconds", small ? 5 : 15),
          System.getProperty("heap", "512m"),
          Path.of(System.getProperty("directory", "target/bench/run")).toAbsolutePath());
    }

    private static List<Integer> numbers(String given, String otherwise) {
      return Stream.of((given.isBlank() ? otherwise : given).split(","))
          .map(Integer::valueOf)
          .toList();
    }
  }

  public static void main(String[] args) throws Exception {
    Options options = Options.read();
    for (String which : options.which()) {
      switch (which) {
        case "customers" -> CustomersBench.run(options);
        case "subscriptions" -> SubscriptionsBench.run(options);
        case "billing" -> BillingBench.run(options);
        default -> throw new IllegalArgumentException("there is no benchmark " + which);
      }
    }
  }
}

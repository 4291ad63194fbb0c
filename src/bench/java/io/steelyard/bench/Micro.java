package io.steelyard.bench;

import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.profile.GCProfiler;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;

/** The single steps of an event, by JMH: time and garbage of each. */
final class Micro {
  private Micro() {}

  static void run(Bench.Options options) throws RunnerException {
    int rounds = options.small() ? 1 : 5;
    new Runner(
            new OptionsBuilder()
                .include("io\\.steelyard\\.bench\\..*Benchmark")
                .mode(Mode.AverageTime)
                .timeUnit(TimeUnit.NANOSECONDS)
                .forks(1)
                .jvmArgs("-Xmx512m")
                .warmupIterations(rounds)
                .warmupTime(TimeValue.milliseconds(options.small() ? 300 : 1000))
                .measurementIterations(rounds)
                .measurementTime(TimeValue.milliseconds(options.small() ? 300 : 1000))
                .addProfiler(GCProfiler.class)
                .build())
        .run();
  }
}

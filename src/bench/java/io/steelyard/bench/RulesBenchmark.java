package io.steelyard.bench;

import io.steelyard.domain.Calculation;
import io.steelyard.domain.EventFacts;
import io.steelyard.domain.EventRules;
import io.steelyard.domain.EventRules.Condition;
import io.steelyard.domain.EventRules.Rule;
import java.math.BigDecimal;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;

/** Deciding whether an event counts, and what of it. */
@State(Scope.Thread)
public class RulesBenchmark {
  private final EventFacts event =
      new EventFacts(
          "model.completion", "user-100", Map.of("count", 7, "model", "large", "region", "eu-1"));

  private final EventRules byName =
      new EventRules(
          List.of(List.of(new Condition("eventName", Rule.MATCHES, List.of("model.completion")))),
          Calculation.SUM,
          "data.count");

  private final EventRules byProperties =
      new EventRules(
          List.of(
              List.of(new Condition("eventName", Rule.MATCHES, List.of("model.embedding"))),
              List.of(
                  new Condition("eventName", Rule.STARTS_WITH, List.of("model.")),
                  new Condition("data.dryRun", Rule.NOT_MATCHES, List.of("true")),
                  new Condition("data.region", Rule.IN, List.of("us-1", "eu-1")),
                  new Condition("data.count", Rule.GTE, List.of("5")))),
          Calculation.SUM,
          "data.count");

  @Benchmark
  public boolean matchByName() {
    return byName.matches(event);
  }

  @Benchmark
  public boolean matchByProperties() {
    return byProperties.matches(event);
  }

  @Benchmark
  public Optional<BigDecimal> number() {
    return byName.number(event);
  }
}

package io.steelyard.bench;

import io.steelyard.db.Ids;
import io.steelyard.domain.BillingMode;
import io.steelyard.domain.IdKind;
import io.steelyard.domain.PriceRules;
import io.steelyard.domain.PriceRules.Tier;
import io.steelyard.domain.PriceTerms;
import io.steelyard.domain.PriceType;
import io.steelyard.domain.Quotient;
import io.steelyard.domain.Rating;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.List;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;

/** What a period's quantity costs. */
@State(Scope.Thread)
public class RatingBenchmark {
  private static final List<Tier> TIERS =
      List.of(
          new Tier(new BigDecimal("1000"), BigDecimal.ZERO, null),
          new Tier(new BigDecimal("100000"), new BigDecimal("0.0015"), null),
          new Tier(null, new BigDecimal("0.001"), new BigDecimal("50")));

  @Param({"UNIT", "BULK", "TIERED", "VOLUME"})
  public PriceType type;

  private final BigDecimal quantity = new BigDecimal("1234567.25");
  private PriceTerms price;

  @Setup
  public void prepare() {
    price =
        new PriceTerms(
            Ids.next(IdKind.PRICE),
            false,
            "Requests",
            null,
            BillingMode.ARREARS,
            type,
            new PriceRules(BigDecimal.TEN, new BigDecimal("0.015"), TIERS),
            false,
            new BigDecimal("10000"),
            null,
            Ids.next(IdKind.BILLABLE),
            null,
            1,
            Instant.EPOCH,
            null);
  }

  @Benchmark
  public BigDecimal usageAmount() {
    return Rating.usageAmount(price, Quotient.of(quantity)).toDecimal();
  }
}

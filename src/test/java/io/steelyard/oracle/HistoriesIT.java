package io.steelyard.oracle;

import io.steelyard.oracle.Facts.ClockSet;
import io.steelyard.oracle.Facts.Subscribed;
import io.steelyard.support.Merchant;
import io.steelyard.support.TestApp;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.ShrinkingMode;
import net.jqwik.api.lifecycle.AfterContainer;
import net.jqwik.api.lifecycle.BeforeContainer;

/**
 * Random histories, played over HTTP two at a time, make the invoices that the oracle works out
 * from their facts. As many pairs as the build's property {@code histories.pairs} says.
 */
class HistoriesIT {
  static final Duration GRACE = Duration.ofDays(3);

  private static TestApp app;

  @BeforeContainer
  static void start() {
    app =
        TestApp.start(
            Map.of(
                "billing.usageGraceMs",
                Long.toString(GRACE.toMillis()),
                "aggregation.pollMs",
                "10"));
  }

  @AfterContainer
  static void stop() {
    app.close();
  }

  @Provide
  Arbitrary<Script> scripts() {
    return Scripts.scripts();
  }

  @Property(shrinking = ShrinkingMode.BOUNDED)
  void everyInvoiceIsAsTheOracleSays(
      @ForAll("scripts") Script one, @ForAll("scripts") Script other) {
    List<Script> both = List.of(one, other);
    Merchant.atOnce(
        both.size(),
        number -> {
          play(both.get(number));
          return number;
        });
  }

  private static void play(Script script) {
    Facts facts = script.facts(GRACE);
    Player player = new Player(app, facts);
    Ledger ledger = new Ledger(player);
    for (int i = 0; i < facts.all().size(); i++) {
      player.play(facts.all().get(i));
      if (facts.all().get(i) instanceof ClockSet) {
        boolean last = i == facts.all().size() - 1;
        List<String> faults = ledger.check(expected(facts.upTo(i)), last);
        if (!faults.isEmpty()) {
          throw new AssertionError("after fact %d:%n%s".formatted(i, String.join("\n", faults)));
        }
      }
    }
  }

  private static Map<Integer, List<Expected>> expected(Facts facts) {
    Map<Integer, List<Expected>> expected = new LinkedHashMap<>();
    for (Facts.Fact fact : facts.all()) {
      if (fact instanceof Subscribed it) {
        expected.put(it.subscription().number(), Life.invoices(facts, it.subscription(), GRACE));
      }
    }
    return expected;
  }
}

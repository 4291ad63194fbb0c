package io.steelyard.domain;

import static io.steelyard.domain.Examples.decimal;
import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.domain.CreditDrawdown.Block;
import io.steelyard.domain.CreditDrawdown.Draw;
import io.steelyard.domain.CreditDrawdown.Drawdown;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.UUID;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class CreditDrawdownTest {
  private static final Instant MARCH = Instant.parse("2024-03-01T00:00:00Z");
  private static final Instant APRIL = Instant.parse("2024-04-01T00:00:00Z");
  private static final Instant MAY = Instant.parse("2024-05-01T00:00:00Z");
  private static final Instant JUNE = Instant.parse("2024-06-01T00:00:00Z");
  private static final Instant IN_MARCH = Instant.parse("2024-03-15T00:00:00Z");
  private static final Instant IN_APRIL = Instant.parse("2024-04-15T00:00:00Z");

  @Test
  void theSoonestToExpireGoesFirstAndTheEverlastingLast() {
    Block never = block(1, "10", MARCH, null, MARCH);
    Block june = block(2, "10", MARCH, JUNE, MARCH);
    Block may = block(3, "10", MARCH, MAY, MARCH);

    assertThat(draw("25", never, june, may))
        .isEqualTo(drawdown("0", of(3, "10"), of(2, "10"), of(1, "5")));
  }

  @Test
  void amongThoseThatExpireTogetherTheOldestGoesFirstAndThenById() {
    Block young = block(1, "10", MARCH, MAY, APRIL);
    Block old = block(3, "10", MARCH, MAY, MARCH);
    Block sameAge = block(2, "10", MARCH, MAY, MARCH);

    assertThat(draw("25", young, old, sameAge))
        .isEqualTo(drawdown("0", of(2, "10"), of(3, "10"), of(1, "5")));
  }

  @Test
  void whatNoBlockCoversIsUncovered() {
    Block only = block(1, "10.5", MARCH, MAY, MARCH);

    assertThat(draw("12", only)).isEqualTo(drawdown("1.5", of(1, "10.5")));
    assertThat(draw("12")).isEqualTo(drawdown("12"));
  }

  @Test
  void anEmptyBlockIsPassedBy() {
    Block empty = block(1, "0", MARCH, MAY, MARCH);
    Block full = block(2, "10", MARCH, JUNE, MARCH);

    assertThat(draw("4", empty, full)).isEqualTo(drawdown("0", of(2, "4")));
  }

  @ParameterizedTest
  @CsvSource({"0", "-3"})
  void nothingIsDrawnForNothing(String units) {
    assertThat(draw(units, block(1, "10", MARCH, MAY, MARCH))).isEqualTo(drawdown("0"));
  }

  @ParameterizedTest
  @CsvSource({
    // The block is valid in April: from its first millisecond to before its end.
    "2024-04-01T00:00:00Z, 5",
    "2024-04-30T23:59:59.999Z, 5",
    "2024-03-31T23:59:59.999Z, 0",
    "2024-05-01T00:00:00Z, 0",
  })
  void aBlockIsValidFromItsStartToBeforeItsExpiry(Instant at, String drawn) {
    Block april = block(1, "10", APRIL, MAY, APRIL);

    assertThat(CreditDrawdown.draw(List.of(april), decimal("5"), at, at).uncovered())
        .isEqualByComparingTo(decimal("5").subtract(decimal(drawn)));
  }

  @Test
  void aLateEventTakesFromTheBlocksOfItsOwnTimeAndThenFromThoseOfNow() {
    Block expired = block(1, "3", MARCH, APRIL, MARCH);
    Block both = block(2, "3", MARCH, null, MARCH);
    Block current = block(3, "3", APRIL, MAY, APRIL);
    Block future = block(4, "3", JUNE, null, MARCH);
    List<Block> blocks = List.of(future, current, both, expired);

    // By expiry alone the current block would go before the everlasting one.
    assertThat(CreditDrawdown.draw(blocks, decimal("10"), IN_MARCH, IN_APRIL))
        .isEqualTo(drawdown("1", of(1, "3"), of(2, "3"), of(3, "3")));
  }

  @Test
  void drawsAndTheUncoveredPartAlwaysAddUpAndNoBlockIsOverdrawn() {
    Random random = new Random(7);
    for (int round = 0; round < 300; round++) {
      List<Block> blocks = new ArrayList<>();
      for (int i = 0; i < random.nextInt(8); i++) {
        Instant effective = random.nextBoolean() ? MARCH : APRIL;
        Instant expires = random.nextBoolean() ? null : random.nextBoolean() ? MAY : JUNE;
        blocks.add(block(i, BigDecimal.valueOf(random.nextInt(100), 1), effective, expires));
      }
      Collections.shuffle(blocks, random);
      BigDecimal units = BigDecimal.valueOf(random.nextInt(300), 1);

      Drawdown drawdown = CreditDrawdown.draw(blocks, units, IN_MARCH, IN_APRIL);

      BigDecimal drawn = Money.sum(drawdown.draws().stream().map(Draw::amount).toList());
      BigDecimal available = Money.sum(blocks.stream().map(Block::remaining).toList());
      Map<UUID, Block> byId =
          blocks.stream().collect(Collectors.toMap(Block::id, Function.identity()));
      assertThat(drawn).isEqualByComparingTo(units.min(available));
      assertThat(drawn.add(drawdown.uncovered())).isEqualByComparingTo(units);
      assertThat(drawdown.draws()).extracting(Draw::blockId).doesNotHaveDuplicates();
      assertThat(drawdown.draws())
          .allSatisfy(
              draw ->
                  assertThat(draw.amount())
                      .isPositive()
                      .isLessThanOrEqualTo(byId.get(draw.blockId()).remaining()));
    }
  }

  private static Drawdown draw(String units, Block... blocks) {
    return CreditDrawdown.draw(List.of(blocks), decimal(units), IN_APRIL, IN_APRIL);
  }

  /** With amounts at the scale that exact arithmetic gives them here. */
  private static Drawdown drawdown(String uncovered, Draw... draws) {
    return new Drawdown(List.of(draws), decimal(uncovered));
  }

  private static Draw of(int block, String amount) {
    return new Draw(new UUID(0, block), decimal(amount));
  }

  private static Block block(
      int number, String remaining, Instant effective, Instant expires, Instant created) {
    return new Block(new UUID(0, number), decimal(remaining), effective, expires, created);
  }

  private static Block block(int number, BigDecimal remaining, Instant effective, Instant expires) {
    return new Block(new UUID(0, number), remaining, effective, expires, MARCH);
  }
}

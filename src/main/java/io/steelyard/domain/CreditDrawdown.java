package io.steelyard.domain;

import java.math.BigDecimal;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.UUID;

/** From which allocation blocks usage takes its units. */
public final class CreditDrawdown {
  private CreditDrawdown() {}

  /**
   * Units that were allocated.
   *
   * @param expiresAt exclusive; null for never
   */
  public record Block(
      UUID id, BigDecimal remaining, Instant effectiveAt, Instant expiresAt, Instant createdAt) {
    private boolean validAt(Instant t) {
      return !t.isBefore(effectiveAt) && (expiresAt == null || t.isBefore(expiresAt));
    }
  }

  /**
   * @param amount above zero and not above what remained of the block
   */
  public record Draw(UUID blockId, BigDecimal amount) {}

  /** The draws and {@code uncovered} add up to the units that were asked for. */
  public record Drawdown(List<Draw> draws, BigDecimal uncovered) {}

  /**
   * Takes from the blocks that were valid at the event's time first, and then, for an event that
   * came late or early, from those valid now. In each group the soonest to expire goes first, then
   * the oldest.
   *
   * @param units nothing is drawn for zero or less
   */
  public static Drawdown draw(List<Block> blocks, BigDecimal units, Instant at, Instant now) {
    List<Block> inOrder =
        blocks.stream()
            .filter(block -> block.validAt(at) || block.validAt(now))
            .sorted(order(at))
            .toList();
    List<Draw> draws = new ArrayList<>();
    BigDecimal uncovered = units.max(BigDecimal.ZERO);
    for (Block block : inOrder) {
      BigDecimal amount = block.remaining().min(uncovered);
      if (amount.signum() > 0) {
        draws.add(new Draw(block.id(), amount));
        uncovered = uncovered.subtract(amount);
      }
    }
    return new Drawdown(List.copyOf(draws), uncovered);
  }

  private static Comparator<Block> order(Instant at) {
    return Comparator.comparing((Block block) -> !block.validAt(at))
        .thenComparing(Block::expiresAt, Comparator.nullsLast(Comparator.naturalOrder()))
        .thenComparing(Block::createdAt)
        .thenComparing(Block::id);
  }
}

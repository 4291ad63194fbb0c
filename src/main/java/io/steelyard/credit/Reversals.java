package io.steelyard.credit;

import io.steelyard.credit.ReversalStore.Available;
import io.steelyard.credit.ReversalStore.Drawn;
import io.steelyard.credit.ReversalStore.Settled;
import io.steelyard.credit.ReversalStore.Use;
import io.steelyard.credit.ReversalStore.Wanted;
import io.steelyard.db.Ids;
import io.steelyard.domain.CreditDrawdown;
import io.steelyard.domain.CreditDrawdown.Draw;
import io.steelyard.domain.CreditDrawdown.Drawdown;
import io.steelyard.domain.PeriodKey;
import io.steelyard.domain.TransactionType;
import io.vertx.core.Future;
import io.vertx.sqlclient.SqlConnection;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * Gives back the units that the usage of a void invoice has drawn, and draws them again for the
 * invoice that takes the usage over. The caller holds the locks of the customers.
 */
public final class Reversals {
  private final ReversalStore store = new ReversalStore();

  /**
   * Gives back all that these periods have drawn, and notes it as released. Units go back to blocks
   * that may be drawn from now; those from other blocks are gone, but released too, since the usage
   * wants them again. Periods that have drawn nothing are left alone, so that doing it again
   * changes nothing.
   *
   * @param cause the void invoice: an invoice gives back what one period has drawn only once
   * @param now by the merchant's clock
   */
  public Future<Void> release(
      SqlConnection transaction,
      UUID merchantId,
      List<PeriodKey> periods,
      UUID cause,
      Instant now) {
    Set<PeriodKey> distinct = new HashSet<>(periods);
    if (distinct.isEmpty()) {
      return Future.succeededFuture();
    }
    return store
        .draws(transaction, merchantId, distinct)
        .compose(drawn -> giveBack(transaction, merchantId, drawn, operation("void", cause), now))
        .compose(done -> store.release(transaction, merchantId, distinct));
  }

  private Future<Void> giveBack(
      SqlConnection transaction,
      UUID merchantId,
      List<Drawn> drawn,
      Function<Use, UUID> operation,
      Instant now) {
    if (drawn.isEmpty()) {
      return Future.succeededFuture();
    }
    return store
        .living(
            transaction, merchantId, drawn.stream().map(Drawn::blockId).distinct().toList(), now)
        .compose(
            living -> {
              Set<UUID> alive = new HashSet<>(living);
              List<Drawn> back =
                  drawn.stream().filter(draw -> alive.contains(draw.blockId())).toList();
              return store.move(
                  transaction, merchantId, TransactionType.REVERSAL, back, operation, now);
            });
  }

  /**
   * Draws released units again, from the blocks valid now, and no more than the period needs by
   * now. What no block covers is overage. Periods without released units are left alone, so that
   * doing it again changes nothing.
   *
   * @param cause the invoice that takes the usage over: it draws for one period only once
   * @param now by the merchant's clock
   */
  public Future<Void> redraw(
      SqlConnection transaction,
      UUID merchantId,
      List<PeriodKey> periods,
      UUID cause,
      Instant now) {
    Set<PeriodKey> distinct = new HashSet<>(periods);
    if (distinct.isEmpty()) {
      return Future.succeededFuture();
    }
    return store
        .open(transaction, merchantId, distinct)
        .compose(
            wanted ->
                wanted.isEmpty()
                    ? Future.succeededFuture()
                    : store
                        .available(transaction, merchantId, wanted, now)
                        .compose(
                            blocks ->
                                save(
                                    transaction,
                                    merchantId,
                                    wanted,
                                    drawn(wanted, blocks, now),
                                    operation("redraw", cause),
                                    now)));
  }

  /** A customer's blocks of one unit. */
  private record Wallet(UUID customerId, UUID unitId) {}

  /**
   * The periods of a subscription that have drawn released units again for this invoice, and still
   * have units drawn.
   *
   * @param cause as in {@link #redraw}
   */
  public Future<Set<Integer>> redrawnFor(
      SqlConnection transaction, UUID merchantId, UUID subscriptionId, UUID cause) {
    return store
        .drawing(transaction, merchantId, subscriptionId)
        .compose(
            uses -> {
              Map<UUID, Integer> periods = new HashMap<>();
              Function<Use, UUID> operation = operation("redraw", cause);
              uses.forEach(use -> periods.put(operation.apply(use), use.period().index()));
              return store
                  .done(transaction, merchantId, periods.keySet())
                  .map(done -> done.stream().map(periods::get).collect(Collectors.toSet()));
            });
  }

  private static List<Drawn> drawn(List<Wanted> wanted, List<Available> available, Instant now) {
    Map<Wallet, Map<UUID, CreditDrawdown.Block>> wallets = new HashMap<>();
    for (Available each : available) {
      wallets
          .computeIfAbsent(
              new Wallet(each.customerId(), each.unitId()), wallet -> new LinkedHashMap<>())
          .put(each.block().id(), each.block());
    }
    List<Drawn> drawn = new ArrayList<>();
    for (Wanted each : wanted) {
      Map<UUID, CreditDrawdown.Block> blocks =
          wallets.getOrDefault(new Wallet(each.use().customerId(), each.unitId()), Map.of());
      Drawdown drawdown = CreditDrawdown.draw(List.copyOf(blocks.values()), each.units(), now, now);
      for (Draw draw : drawdown.draws()) {
        drawn.add(new Drawn(each.use(), draw.blockId(), draw.amount()));
        blocks.computeIfPresent(draw.blockId(), (id, block) -> less(block, draw.amount()));
      }
    }
    return drawn;
  }

  private static CreditDrawdown.Block less(CreditDrawdown.Block block, BigDecimal amount) {
    return new CreditDrawdown.Block(
        block.id(),
        block.remaining().subtract(amount),
        block.effectiveAt(),
        block.expiresAt(),
        block.createdAt());
  }

  private Future<Void> save(
      SqlConnection transaction,
      UUID merchantId,
      List<Wanted> wanted,
      List<Drawn> drawn,
      Function<Use, UUID> operation,
      Instant now) {
    Map<Use, BigDecimal> totals = new LinkedHashMap<>();
    wanted.forEach(each -> totals.put(each.use(), BigDecimal.ZERO));
    drawn.forEach(draw -> totals.merge(draw.use(), draw.amount(), BigDecimal::add));
    List<Settled> settled = new ArrayList<>();
    totals.forEach((use, total) -> settled.add(new Settled(use, total)));
    List<Drawn> moves =
        drawn.stream()
            .map(draw -> new Drawn(draw.use(), draw.blockId(), draw.amount().negate()))
            .toList();
    return store
        .move(transaction, merchantId, TransactionType.USAGE, moves, operation, now)
        .compose(done -> store.settle(transaction, merchantId, settled))
        .compose(done -> store.remember(transaction, merchantId, drawn, now));
  }

  /** The rows of one price in one period are one operation, as those of an event are. */
  private static Function<Use, UUID> operation(String what, UUID cause) {
    return use ->
        Ids.operation(
            "%s:%s:%s:%d:%s"
                .formatted(
                    what,
                    cause,
                    use.period().subscriptionId().uuid(),
                    use.period().index(),
                    use.priceId()));
  }
}

package io.steelyard.usage;

import io.steelyard.db.Ids;
import io.steelyard.domain.CreditDrawdown;
import io.steelyard.domain.CreditDrawdown.Draw;
import io.steelyard.domain.CreditDrawdown.Drawdown;
import io.steelyard.domain.Id;
import io.steelyard.domain.PriceTerms;
import io.steelyard.domain.Quotient;
import io.steelyard.domain.Rating;
import io.steelyard.domain.TransactionType;
import io.steelyard.usage.Fold.Reading;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;

/**
 * The blocks that the fold may draw from, and what each price has asked for and got. Drawn units
 * that turn out not to be needed go back to where they came from.
 */
final class Wallets {
  /** What a price has asked for in a period. */
  record PriceRef(UsagePeriod.Ref period, UUID priceId) {}

  /** A customer's blocks of one unit. */
  record WalletRef(UUID customerId, UUID unitId) {}

  /**
   * @param drawn never above {@code required}; the rest is what no block covered
   */
  record Use(BigDecimal required, BigDecimal drawn) {
    static final Use NONE = new Use(BigDecimal.ZERO, BigDecimal.ZERO);
  }

  /**
   * @param drawnAt time of the last event that drew
   */
  record FromBlock(BigDecimal drawn, Instant drawnAt) {}

  /**
   * A new row of the ledger.
   *
   * @param eventKey null when no single event is the cause
   */
  record LedgerRow(
      UsagePeriod period,
      UUID blockId,
      TransactionType type,
      BigDecimal amount,
      UUID billableId,
      UUID eventKey,
      UUID operationId) {}

  private final Map<WalletRef, List<UUID>> wallets = new HashMap<>();
  private final Map<UUID, CreditDrawdown.Block> blocks = new HashMap<>();
  private final Set<UUID> writtenOff = new HashSet<>();
  private final Map<PriceRef, Use> uses = new HashMap<>();
  private final Map<PriceRef, Map<UUID, FromBlock>> draws = new HashMap<>();
  private final Set<UUID> changedBlocks = new LinkedHashSet<>();
  private final Set<PriceRef> changedPrices = new LinkedHashSet<>();
  private final List<LedgerRow> ledger = new ArrayList<>();

  void load(WalletRef wallet, CreditDrawdown.Block block) {
    wallets.computeIfAbsent(wallet, ref -> new ArrayList<>()).add(block.id());
    blocks.put(block.id(), block);
  }

  void load(PriceRef price, Use use) {
    uses.put(price, use);
  }

  void load(PriceRef price, UUID blockId, FromBlock fromBlock) {
    draws.computeIfAbsent(price, ref -> new LinkedHashMap<>()).put(blockId, fromBlock);
  }

  /** What was drawn from this block is gone when it is not needed after all. */
  void loadWrittenOff(UUID blockId) {
    writtenOff.add(blockId);
  }

  /**
   * Brings what {@code price} asks for to the quantity that {@code event} led to. While all is
   * counted anew, from nothing, what was drawn before stays as it is: see {@link #recounted}.
   */
  void settle(Meter meter, PriceTerms price, Quotient quantity, StoredEvent event) {
    if (!meter.period().recounting()) {
      settle(new Cause(meter, ref(meter, price), event), price, quantity);
    }
  }

  /**
   * Brings what prices ask for to what a recount of their meters has come to. Those that ask for
   * less give back before others, whose quantity may have risen with what it has lost, draw more.
   */
  void recounted(List<Reading> readings) {
    for (boolean lower : List.of(true, false)) {
      for (Reading reading : readings) {
        for (PriceTerms price : reading.meter().drawing()) {
          Cause cause = new Cause(reading.meter(), ref(reading.meter(), price), null);
          if (delta(cause, price, reading.quantity()).signum() < 0 == lower) {
            settle(cause, price, reading.quantity());
          }
        }
      }
    }
  }

  private static PriceRef ref(Meter meter, PriceTerms price) {
    return new PriceRef(meter.period().ref(), price.id().uuid());
  }

  private void settle(Cause cause, PriceTerms price, Quotient quantity) {
    BigDecimal delta = delta(cause, price, quantity);
    if (delta.signum() == 0) {
      return;
    }
    Use use = use(cause.price());
    BigDecimal required = use.required().add(delta);
    BigDecimal drawn =
        delta.signum() > 0
            ? use.drawn().add(draw(cause, price.customPricingUnitId(), delta))
            : use.drawn().min(required);
    giveBack(cause, use.drawn().subtract(drawn));
    uses.put(cause.price(), new Use(required, drawn));
    changedPrices.add(cause.price());
  }

  private BigDecimal delta(Cause cause, PriceTerms price, Quotient quantity) {
    BigDecimal required = Rating.usageAmount(price, quantity).toDecimal();
    return required.subtract(use(cause.price()).required());
  }

  /**
   * @param event null for the end of a recount
   */
  private record Cause(Meter meter, PriceRef price, StoredEvent event) {
    /** What an event draws when it is counted once more is something else than before. */
    UUID operationId() {
      int recounts = meter.period().recounts();
      return Ids.operation(
          "%s:%s:%d:%s%s"
              .formatted(
                  event == null ? "recount" : "use:" + event.merchantId() + ":" + event.key(),
                  price.period().subscriptionId(),
                  price.period().index(),
                  price.priceId(),
                  recounts == 0 ? "" : ":" + recounts));
    }

    UUID eventKey() {
      return event == null ? null : event.key();
    }

    Instant at() {
      return event == null ? meter.period().now() : event.generatedAt();
    }
  }

  /** The units that blocks covered. */
  private BigDecimal draw(Cause cause, Id unit, BigDecimal units) {
    UsagePeriod period = cause.meter().period();
    WalletRef wallet = new WalletRef(period.customerId(), unit.uuid());
    List<CreditDrawdown.Block> available =
        wallets.getOrDefault(wallet, List.of()).stream().map(blocks::get).toList();
    Drawdown drawdown = CreditDrawdown.draw(available, units, cause.at(), period.now());
    for (Draw draw : drawdown.draws()) {
      move(cause, draw.blockId(), TransactionType.USAGE, draw.amount().negate());
      FromBlock before = fromBlock(cause.price(), draw.blockId());
      remember(
          cause.price(),
          draw.blockId(),
          new FromBlock(before.drawn().add(draw.amount()), cause.at()));
    }
    return units.subtract(drawdown.uncovered());
  }

  /**
   * To the blocks drawn from last, first; also to one that has expired, from which late usage of
   * its time draws as well. What came from a block that was written off is gone.
   */
  private void giveBack(Cause cause, BigDecimal units) {
    if (units.signum() <= 0) {
      return;
    }
    BigDecimal left = units;
    for (UUID blockId : lastDrawnFirst(cause.price())) {
      FromBlock from = fromBlock(cause.price(), blockId);
      BigDecimal amount = from.drawn().min(left);
      if (amount.signum() > 0) {
        remember(
            cause.price(), blockId, new FromBlock(from.drawn().subtract(amount), from.drawnAt()));
        if (!writtenOff.contains(blockId)) {
          move(cause, blockId, TransactionType.REVERSAL, amount);
        }
        left = left.subtract(amount);
      }
    }
    if (left.signum() != 0) {
      throw new IllegalStateException("draws of " + cause.price() + " do not add up to its total");
    }
  }

  /** One event draws from the soonest to expire first, so that the last to expire is the last. */
  private List<UUID> lastDrawnFirst(PriceRef price) {
    Map<UUID, FromBlock> drawn = draws.getOrDefault(price, Map.of());
    Comparator<CreditDrawdown.Block> inOrder =
        Comparator.comparing((CreditDrawdown.Block block) -> drawn.get(block.id()).drawnAt())
            .thenComparing(
                CreditDrawdown.Block::expiresAt, Comparator.nullsLast(Comparator.naturalOrder()))
            .thenComparing(CreditDrawdown.Block::createdAt)
            .thenComparing(CreditDrawdown.Block::id);
    return drawn.keySet().stream()
        .map(blocks::get)
        .sorted(inOrder.reversed())
        .map(CreditDrawdown.Block::id)
        .toList();
  }

  private void move(Cause cause, UUID blockId, TransactionType type, BigDecimal amount) {
    blocks.computeIfPresent(
        blockId,
        (id, block) ->
            new CreditDrawdown.Block(
                id,
                block.remaining().add(amount),
                block.effectiveAt(),
                block.expiresAt(),
                block.createdAt()));
    changedBlocks.add(blockId);
    ledger.add(
        new LedgerRow(
            cause.meter().period(),
            blockId,
            type,
            amount,
            cause.meter().billable().id().uuid(),
            cause.eventKey(),
            cause.operationId()));
  }

  private FromBlock fromBlock(PriceRef price, UUID blockId) {
    return draws
        .getOrDefault(price, Map.of())
        .getOrDefault(blockId, new FromBlock(BigDecimal.ZERO, Instant.EPOCH));
  }

  private void remember(PriceRef price, UUID blockId, FromBlock fromBlock) {
    draws.computeIfAbsent(price, ref -> new LinkedHashMap<>()).put(blockId, fromBlock);
  }

  List<LedgerRow> ledger() {
    return ledger;
  }

  List<CreditDrawdown.Block> changedBlocks() {
    return changedBlocks.stream().map(blocks::get).toList();
  }

  Set<PriceRef> changedPrices() {
    return changedPrices;
  }

  Use use(PriceRef price) {
    return uses.getOrDefault(price, Use.NONE);
  }

  Map<UUID, FromBlock> draws(PriceRef price) {
    return draws.getOrDefault(price, Map.of());
  }
}

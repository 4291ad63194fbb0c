package io.steelyard.usage;

import io.steelyard.credit.ExpiryStore;
import io.steelyard.db.Columns;
import io.steelyard.db.Ids;
import io.steelyard.db.Sql;
import io.steelyard.domain.CreditDrawdown;
import io.steelyard.usage.Wallets.FromBlock;
import io.steelyard.usage.Wallets.LedgerRow;
import io.steelyard.usage.Wallets.PriceRef;
import io.steelyard.usage.Wallets.Use;
import io.steelyard.usage.Wallets.WalletRef;
import io.vertx.core.Future;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.SqlConnection;
import io.vertx.sqlclient.Tuple;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.UUID;

/** Blocks, what was drawn from them for which price, and their ledger. */
final class DrawStore {
  private static final String USES =
      """
      SELECT u.merchant_id, u.subscription_id, u.period_index, u.price_id, u.required, u.drawn
      FROM unnest($1::uuid[], $2::uuid[], $3::integer[], $4::uuid[])
           AS w (merchant_id, subscription_id, period_index, price_id)
      JOIN credit_usage u
        ON u.subscription_id = w.subscription_id AND u.period_index = w.period_index
       AND u.price_id = w.price_id AND u.merchant_id = w.merchant_id
      """;

  private static final String DRAWS =
      """
      SELECT d.merchant_id, d.subscription_id, d.period_index, d.price_id, d.allocation_block_id,
             d.drawn, d.drawn_at
      FROM unnest($1::uuid[], $2::uuid[], $3::integer[], $4::uuid[])
           AS w (merchant_id, subscription_id, period_index, price_id)
      JOIN credit_draw d
        ON d.subscription_id = w.subscription_id AND d.period_index = w.period_index
       AND d.price_id = w.price_id AND d.merchant_id = w.merchant_id
      """;

  // Locked in the order of their ids; allocation and expiry change them too.
  private static final String BLOCKS =
      """
      SELECT b.id, b.customer_id, b.custom_pricing_unit_id, b.remaining, b.effective_at,
             b.expires_at, b.created_at
      FROM allocation_block b
      WHERE b.merchant_id = ANY ($1::uuid[]) AND b.customer_id = ANY ($2::uuid[])
        AND b.custom_pricing_unit_id = ANY ($3::uuid[])
        AND (b.remaining > 0 OR b.id = ANY ($4::uuid[]))
      ORDER BY b.id
      FOR NO KEY UPDATE
      """;

  private static final String WRITTEN_OFF =
      """
      SELECT t.allocation_block_id
      FROM unnest($1::uuid[], $2::uuid[]) AS e (block_id, operation_id)
      JOIN credit_transaction t
        ON t.operation_id = e.operation_id AND t.allocation_block_id = e.block_id
      WHERE t.merchant_id = ANY ($3::uuid[])
      """;

  private static final String SAVE_BLOCKS =
      """
      UPDATE allocation_block b SET remaining = c.remaining
      FROM unnest($1::uuid[], $2::text[]::numeric[]) AS c (id, remaining)
      WHERE b.id = c.id AND b.merchant_id = ANY ($3::uuid[])
      """;

  private static final String SAVE_USES =
      """
      INSERT INTO credit_usage (merchant_id, subscription_id, period_index, price_id, required,
                                drawn)
      SELECT u.*
      FROM unnest($1::uuid[], $2::uuid[], $3::integer[], $4::uuid[], $5::text[]::numeric[],
                  $6::text[]::numeric[])
           AS u
      ON CONFLICT (subscription_id, period_index, price_id) DO UPDATE
      SET required = excluded.required, drawn = excluded.drawn
      """;

  private static final String SAVE_DRAWS =
      """
      INSERT INTO credit_draw (merchant_id, subscription_id, period_index, price_id,
                               allocation_block_id, drawn, drawn_at)
      SELECT d.*
      FROM unnest($1::uuid[], $2::uuid[], $3::integer[], $4::uuid[], $5::uuid[],
                  $6::text[]::numeric[], $7::timestamptz[]) AS d
      ON CONFLICT (subscription_id, period_index, price_id, allocation_block_id) DO UPDATE
      SET drawn = excluded.drawn, drawn_at = excluded.drawn_at
      """;

  // Not ON CONFLICT DO NOTHING: a second row of one operation and block is a fault to be seen.
  private static final String ADD_TO_LEDGER =
      """
      INSERT INTO credit_transaction (id, merchant_id, customer_id, allocation_block_id, type,
                                      amount, billable_id, event_key, operation_id, created_at)
      SELECT l.*
      FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::uuid[], $5::text[], $6::text[]::numeric[],
                  $7::uuid[], $8::uuid[], $9::uuid[], $10::timestamptz[]) AS l
      """;

  private record PriceDraw(PriceRef price, UUID blockId, FromBlock fromBlock) {}

  /**
   * Everything that settling these prices may touch.
   *
   * @param now the latest of their merchants' times
   */
  Future<Wallets> load(
      SqlConnection transaction, Set<PriceRef> prices, Set<WalletRef> wallets, Instant now) {
    Wallets loaded = new Wallets();
    if (prices.isEmpty()) {
      return Future.succeededFuture(loaded);
    }
    return transaction
        .preparedQuery(USES)
        .execute(columns(prices))
        .compose(
            uses -> {
              uses.forEach(
                  row ->
                      loaded.load(
                          price(row),
                          new Use(row.getBigDecimal("required"), row.getBigDecimal("drawn"))));
              return transaction.preparedQuery(DRAWS).execute(columns(prices));
            })
        .compose(
            draws -> {
              List<UUID> drawnFrom = new ArrayList<>();
              draws.forEach(row -> drawnFrom.add(loadDraw(loaded, row)));
              return loadBlocks(transaction, loaded, prices, wallets, drawnFrom);
            })
        .compose(blocks -> loadWrittenOff(transaction, loaded, prices, expired(blocks, now)));
  }

  private static UUID loadDraw(Wallets loaded, Row row) {
    UUID blockId = row.getUUID("allocation_block_id");
    loaded.load(
        price(row),
        blockId,
        new FromBlock(row.getBigDecimal("drawn"), Sql.instant(row, "drawn_at")));
    return blockId;
  }

  private Future<List<CreditDrawdown.Block>> loadBlocks(
      SqlConnection transaction,
      Wallets loaded,
      Set<PriceRef> prices,
      Set<WalletRef> wallets,
      List<UUID> drawnFrom) {
    Tuple parameters = Tuple.tuple();
    parameters.addValue(
        prices.stream().map(price -> price.period().merchantId()).distinct().toArray(UUID[]::new));
    parameters.addValue(
        wallets.stream().map(WalletRef::customerId).distinct().toArray(UUID[]::new));
    parameters.addValue(wallets.stream().map(WalletRef::unitId).distinct().toArray(UUID[]::new));
    parameters.addValue(drawnFrom.toArray(UUID[]::new));
    return transaction
        .preparedQuery(BLOCKS)
        .execute(parameters)
        .map(
            rows -> {
              List<CreditDrawdown.Block> blocks = new ArrayList<>();
              for (Row row : rows) {
                CreditDrawdown.Block block = block(row);
                loaded.load(wallet(row), block);
                blocks.add(block);
              }
              return blocks;
            });
  }

  private static List<UUID> expired(List<CreditDrawdown.Block> blocks, Instant now) {
    return blocks.stream()
        .filter(block -> block.expiresAt() != null && !now.isBefore(block.expiresAt()))
        .map(CreditDrawdown.Block::id)
        .toList();
  }

  private static Future<Wallets> loadWrittenOff(
      SqlConnection transaction, Wallets loaded, Set<PriceRef> prices, List<UUID> expired) {
    if (expired.isEmpty()) {
      return Future.succeededFuture(loaded);
    }
    UUID[] merchants =
        prices.stream().map(price -> price.period().merchantId()).distinct().toArray(UUID[]::new);
    return transaction
        .preparedQuery(WRITTEN_OFF)
        .execute(
            new Columns<>(expired)
                .uuids(block -> block)
                .uuids(ExpiryStore::operation)
                .and((Object) merchants))
        .map(
            rows -> {
              rows.forEach(row -> loaded.loadWrittenOff(row.getUUID("allocation_block_id")));
              return loaded;
            });
  }

  /** Writes what changed, the ledger with it. */
  Future<Void> save(SqlConnection transaction, Wallets wallets) {
    if (wallets.changedPrices().isEmpty()) {
      return Future.succeededFuture();
    }
    return saveUses(transaction, wallets)
        .compose(
            saved ->
                wallets.ledger().isEmpty()
                    ? Future.succeededFuture()
                    : saveBlocks(transaction, wallets)
                        .compose(done -> addToLedger(transaction, wallets.ledger())))
        .compose(saved -> saveDraws(transaction, wallets));
  }

  private Future<Void> saveUses(SqlConnection transaction, Wallets wallets) {
    return transaction
        .preparedQuery(SAVE_USES)
        .execute(
            new Columns<>(wallets.changedPrices())
                .also(PeriodColumns.of(PriceRef::period))
                .uuids(PriceRef::priceId)
                .numbers(price -> wallets.use(price).required())
                .numbers(price -> wallets.use(price).drawn())
                .and())
        .mapEmpty();
  }

  private Future<Void> saveBlocks(SqlConnection transaction, Wallets wallets) {
    UUID[] merchants =
        wallets.ledger().stream()
            .map(row -> row.period().merchantId())
            .distinct()
            .toArray(UUID[]::new);
    return transaction
        .preparedQuery(SAVE_BLOCKS)
        .execute(
            new Columns<>(wallets.changedBlocks())
                .uuids(CreditDrawdown.Block::id)
                .numbers(CreditDrawdown.Block::remaining)
                .and((Object) merchants))
        .mapEmpty();
  }

  private Future<Void> addToLedger(SqlConnection transaction, List<LedgerRow> ledger) {
    return transaction
        .preparedQuery(ADD_TO_LEDGER)
        .execute(
            new Columns<>(ledger)
                .uuids(row -> Ids.nextUuid())
                .uuids(row -> row.period().merchantId())
                .uuids(row -> row.period().customerId())
                .uuids(LedgerRow::blockId)
                .texts(row -> row.type().wire())
                .numbers(LedgerRow::amount)
                .uuids(LedgerRow::billableId)
                .uuids(LedgerRow::eventKey)
                .uuids(LedgerRow::operationId)
                .times(row -> row.period().now())
                .and())
        .mapEmpty();
  }

  private Future<Void> saveDraws(SqlConnection transaction, Wallets wallets) {
    List<PriceDraw> draws = new ArrayList<>();
    for (PriceRef price : wallets.changedPrices()) {
      wallets
          .draws(price)
          .forEach((blockId, fromBlock) -> draws.add(new PriceDraw(price, blockId, fromBlock)));
    }
    if (draws.isEmpty()) {
      return Future.succeededFuture();
    }
    return transaction
        .preparedQuery(SAVE_DRAWS)
        .execute(
            new Columns<>(draws)
                .also(PeriodColumns.of(draw -> draw.price().period()))
                .uuids(draw -> draw.price().priceId())
                .uuids(PriceDraw::blockId)
                .numbers(draw -> draw.fromBlock().drawn())
                .times(draw -> draw.fromBlock().drawnAt())
                .and())
        .mapEmpty();
  }

  private static Tuple columns(Collection<PriceRef> prices) {
    return new Columns<>(prices)
        .also(PeriodColumns.of(PriceRef::period))
        .uuids(PriceRef::priceId)
        .and();
  }

  private static PriceRef price(Row row) {
    return new PriceRef(
        new UsagePeriod.Ref(
            row.getUUID("merchant_id"),
            row.getUUID("subscription_id"),
            row.getInteger("period_index")),
        row.getUUID("price_id"));
  }

  private static WalletRef wallet(Row row) {
    return new WalletRef(row.getUUID("customer_id"), row.getUUID("custom_pricing_unit_id"));
  }

  private static CreditDrawdown.Block block(Row row) {
    return new CreditDrawdown.Block(
        row.getUUID("id"),
        row.getBigDecimal("remaining"),
        Sql.instant(row, "effective_at"),
        Sql.instant(row, "expires_at"),
        Sql.instant(row, "created_at"));
  }
}

package io.steelyard.gateway;

import io.steelyard.bus.Call;
import io.steelyard.config.Config;
import io.steelyard.db.Endpoint;
import io.steelyard.db.Ids;
import io.steelyard.db.Pools;
import io.steelyard.domain.Environment;
import io.steelyard.domain.Id;
import io.steelyard.domain.IdKind;
import io.steelyard.support.PostgresSupport;
import io.vertx.core.Vertx;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.Tuple;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.UUID;

/** A database with merchants and customers by intent, and calls on their behalf. */
final class GatewayFixture {
  static final Instant NOW = Instant.parse("2025-03-01T10:00:00Z");
  static final long CHECKOUT_TTL_MS = 3_600_000;

  private static final String MERCHANT =
      """
      INSERT INTO merchant (id, name, environment, timezone, clock_now, created_at, updated_at)
      VALUES ($1, 'm', 'test', 'UTC', $2, $2, $2)
      """;
  private static final String CUSTOMER =
      """
      INSERT INTO customer
        (id, merchant_id, external_id, name, email, card_gateway_id, had_trial,
         created_at, updated_at)
      VALUES ($1, $2, $3, 'Ann', 'ann@shop.example', $4, false, $5, $5)
      """;

  final Pools pools;
  final Pool pool;

  GatewayFixture(Vertx vertx) {
    Endpoint endpoint = PostgresSupport.migratedDatabase();
    pools =
        new Pools(
            new Config.Database(
                null, "data", 0, "none", 8, 2, 1, 1, 1, 64, 2000, 5000, 5000, 2000, 10_000, 256),
            endpoint);
    pool = pools.api(vertx);
  }

  static Config config() {
    return new Config(
        null,
        null,
        null,
        null,
        null,
        null,
        null,
        null,
        null,
        null,
        null,
        null,
        null,
        null,
        null,
        null,
        new Config.Gateway(2000, 3, 20, CHECKOUT_TTL_MS),
        null,
        new Config.Security(null),
        null,
        null);
  }

  /** A test merchant whose clock stands at {@link #NOW}. */
  Call.Merchant merchant() {
    Id id = Ids.next(IdKind.MERCHANT);
    pool.preparedQuery(MERCHANT).execute(Tuple.of(id.uuid(), time(NOW))).await();
    return new Call.Merchant(id, Environment.TEST, ZoneOffset.UTC);
  }

  void setClock(Call.Merchant merchant, Instant now) {
    pool.preparedQuery("UPDATE merchant SET clock_now = $2 WHERE id = $1")
        .execute(Tuple.of(merchant.id().uuid(), time(now)))
        .await();
  }

  Id customer(Call.Merchant merchant, String externalId, String cardGatewayId) {
    Id id = Ids.next(IdKind.CUSTOMER);
    pool.preparedQuery(CUSTOMER)
        .execute(Tuple.of(id.uuid(), merchant.id().uuid(), externalId, cardGatewayId, time(NOW)))
        .await();
    return id;
  }

  String cardGatewayId(Id customer) {
    return pool.preparedQuery("SELECT card_gateway_id FROM customer WHERE id = $1")
        .execute(Tuple.of(customer.uuid()))
        .await()
        .iterator()
        .next()
        .getString(0);
  }

  static Call call(Call.Merchant merchant) {
    return new Call(UUID.randomUUID().toString(), merchant, System.currentTimeMillis() + 10_000);
  }

  private static OffsetDateTime time(Instant instant) {
    return instant.atOffset(ZoneOffset.UTC);
  }
}

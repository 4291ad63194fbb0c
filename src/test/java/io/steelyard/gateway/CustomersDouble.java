package io.steelyard.gateway;

import io.steelyard.bus.Address;
import io.steelyard.bus.Call;
import io.steelyard.bus.Failure;
import io.steelyard.bus.FailureException;
import io.steelyard.bus.Reply;
import io.steelyard.bus.ServiceVerticle;
import io.steelyard.customer.CustomerMessages;
import io.steelyard.customer.CustomerMessages.CustomerView;
import io.steelyard.customer.CustomerMessages.GetCustomerByExternalId;
import io.steelyard.customer.CustomerMessages.LinkCardGateway;
import io.steelyard.db.Pools;
import io.steelyard.db.Sql;
import io.steelyard.domain.IdKind;
import io.vertx.core.Future;
import io.vertx.sqlclient.Pool;
import io.vertx.sqlclient.Row;
import io.vertx.sqlclient.RowSet;
import io.vertx.sqlclient.Tuple;

/** Answers from the customer table what the gateway feature asks of customers. */
final class CustomersDouble extends ServiceVerticle<CustomerMessages<?>> {
  private static final String FIND =
      "SELECT * FROM customer WHERE merchant_id = $1 AND external_id = $2";
  private static final String LINK =
      """
      UPDATE customer SET card_gateway_id = coalesce(card_gateway_id, $3)
      WHERE merchant_id = $1 AND id = $2
      RETURNING *
      """;

  private final Pools pools;
  private Pool pool;

  CustomersDouble(Settings settings, Pools pools) {
    super(Address.CUSTOMER, settings);
    this.pools = pools;
  }

  @Override
  protected Future<?> open() {
    pool = pools.api(vertx);
    return Future.succeededFuture();
  }

  @Override
  protected Future<?> close() {
    return pool.close();
  }

  @Override
  protected Future<? extends Reply> handle(CustomerMessages<?> message, Call call) {
    if (message instanceof GetCustomerByExternalId get) {
      return one(FIND, Tuple.of(call.merchantId(), get.externalId()));
    }
    if (message instanceof LinkCardGateway link) {
      return one(LINK, Tuple.of(call.merchantId(), link.customerId().uuid(), link.cardGatewayId()));
    }
    return Future.failedFuture(new IllegalArgumentException("nobody should ask " + message));
  }

  private Future<CustomerView> one(String sql, Tuple parameters) {
    return pool.preparedQuery(sql).execute(parameters).compose(CustomersDouble::first);
  }

  private static Future<CustomerView> first(RowSet<Row> rows) {
    return rows.size() == 0
        ? FailureException.failed(Failure.notFound("customer"))
        : Future.succeededFuture(view(rows.iterator().next()));
  }

  private static CustomerView view(Row row) {
    return new CustomerView(
        Sql.id(row, "id", IdKind.CUSTOMER),
        Sql.id(row, "merchant_id", IdKind.MERCHANT),
        row.getString("external_id"),
        row.getString("name"),
        row.getString("email"),
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
        row.getString("card_gateway_id"),
        Sql.instant(row, "created_at"),
        Sql.instant(row, "updated_at"));
  }
}

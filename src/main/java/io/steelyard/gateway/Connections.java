package io.steelyard.gateway;

import io.steelyard.bus.Call;
import io.steelyard.bus.Failure;
import io.steelyard.bus.FailureException;
import io.steelyard.db.SecretBox;
import io.steelyard.domain.PaymentGateway;
import io.steelyard.gateway.GatewayStore.Connection;
import io.vertx.core.Future;
import io.vertx.sqlclient.Pool;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Finds a merchant's way to a gateway, and opens the secret that it needs. */
final class Connections {
  private static final Logger LOG = LoggerFactory.getLogger(Connections.class);

  private final Pool pool;
  private final SecretBox secretBox;

  Connections(Pool pool, SecretBox secretBox) {
    this.pool = pool;
    this.secretBox = secretBox;
  }

  /**
   * @param account null for a sandbox
   */
  record Way(HttpGateway.Account account) {
    boolean sandbox() {
      return account == null;
    }
  }

  /** The way to the gateway, or {@code gateway_not_connected}. */
  Future<Way> to(PaymentGateway gateway, Call call) {
    return GatewayStore.find(pool, call.merchantId(), gateway)
        .compose(
            connection ->
                connection
                    .flatMap(found -> way(gateway, found, call))
                    .map(Future::succeededFuture)
                    .orElseGet(() -> notConnected(gateway)));
  }

  private static Future<Way> notConnected(PaymentGateway gateway) {
    String name = gateway == PaymentGateway.CARD_GATEWAY ? "card gateway" : gateway.wire();
    return FailureException.failed(
        new Failure.Rejected("gateway_not_connected", "No valid " + name + " is connected."));
  }

  private Optional<Way> way(PaymentGateway gateway, Connection connection, Call call) {
    if (ConnectionTerms.SANDBOX.equals(connection.kind())) {
      return Optional.of(new Way(null));
    }
    Optional<String> secret =
        secretBox.open(call.merchantId(), gateway.wire(), connection.sealedSecret());
    if (secret.isEmpty()) {
      LOG.error(
          "The secret of {} of {} does not open with the configured encryption key",
          gateway.wire(),
          call.merchant().id());
    }
    return secret.map(text -> new Way(new HttpGateway.Account(connection.baseUrl(), text)));
  }
}

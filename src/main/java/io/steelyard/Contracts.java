package io.steelyard;

import io.steelyard.billing.BillingMessages;
import io.steelyard.bus.NodeMessages;
import io.steelyard.bus.RecordCodec;
import io.steelyard.catalog.CatalogMessages;
import io.steelyard.credit.CreditMessages;
import io.steelyard.customer.CustomerMessages;
import io.steelyard.delivery.DeliveryMessages;
import io.steelyard.gateway.GatewayMessages;
import io.steelyard.integrity.IntegrityMessages;
import io.steelyard.invoice.InvoiceMessages;
import io.steelyard.merchant.MerchantMessages;
import io.steelyard.subscription.SubscriptionMessages;
import io.steelyard.usage.ExplainMessages;
import io.steelyard.usage.RetentionMessages;
import io.steelyard.usage.UsageMessages;
import io.vertx.core.Vertx;
import java.util.List;

/** All that the parts of the service say to each other on the event bus. */
public final class Contracts {
  public static final List<Class<?>> ALL =
      List.of(
          BillingMessages.class,
          CatalogMessages.class,
          CreditMessages.class,
          CustomerMessages.class,
          ExplainMessages.class,
          DeliveryMessages.class,
          GatewayMessages.class,
          IntegrityMessages.class,
          InvoiceMessages.class,
          MerchantMessages.class,
          NodeMessages.class,
          RetentionMessages.class,
          SubscriptionMessages.class,
          UsageMessages.class);

  private Contracts() {}

  /** Within one process. */
  static void register(Vertx vertx) {
    new RecordCodec(ALL).register(vertx);
  }

  /**
   * Between the nodes of a cluster too.
   *
   * @param key of the code that each message carries
   */
  static void register(Vertx vertx, byte[] key) {
    new RecordCodec(ALL, key).register(vertx);
  }
}

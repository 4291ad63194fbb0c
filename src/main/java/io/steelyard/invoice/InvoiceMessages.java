package io.steelyard.invoice;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.steelyard.bus.Address;
import io.steelyard.bus.Reply;
import io.steelyard.bus.Request;
import io.steelyard.domain.BillingMode;
import io.steelyard.domain.Id;
import io.steelyard.domain.InvoiceStatus;
import io.steelyard.domain.Paging;
import io.steelyard.domain.PaymentGateway;
import io.steelyard.domain.PriceType;
import java.math.BigDecimal;
import java.time.Instant;
import java.util.List;
import java.util.Map;

/** What the invoice verticle may be asked. */
public sealed interface InvoiceMessages<R extends Reply> extends Request<R> {
  @Override
  default Address address() {
    return Address.INVOICE;
  }

  record GetInvoiceWithLineItems(String id) implements InvoiceMessages<InvoiceView> {}

  /**
   * @param filters any of {@code customerId}, {@code subscriptionId}, {@code status}
   */
  record ListInvoices(Map<String, String> filters, Paging paging)
      implements InvoiceMessages<InvoicePage> {
    public ListInvoices {
      filters = Map.copyOf(filters);
    }
  }

  /**
   * @param total in currency units, the sum of the rounded lines; shown to operators only
   */
  record InvoiceView(
      Id id,
      String externalId,
      InvoiceStatus status,
      Instant createdAt,
      Instant updatedAt,
      Instant dueDate,
      Instant issueDate,
      Instant pendingDate,
      long vanityId,
      String vanityIdString,
      Id customerId,
      Id merchantId,
      Id subscriptionId,
      boolean autoSyncInvoice,
      boolean autoSendInvoice,
      boolean autoChargeInvoice,
      PaymentGateway paymentGateway,
      @JsonInclude(JsonInclude.Include.NON_NULL) BigDecimal total,
      @JsonInclude(JsonInclude.Include.NON_NULL) List<LineItemView> invoiceLineItems)
      implements Reply {}

  /**
   * @param amount in currency units, rounded half-up to the cent
   * @param endDate exclusive
   */
  record LineItemView(
      Id id,
      Id invoiceId,
      Id merchantId,
      Id priceId,
      BigDecimal amount,
      String description,
      LineDetails details,
      Instant startDate,
      Instant endDate,
      Instant createdAt,
      Instant updatedAt,
      LinePrice price) {}

  record LineDetails(BigDecimal quantity, BigDecimal unitPrice) {}

  record LinePrice(
      Id id,
      String entityType,
      BillingMode billingMode,
      Map<String, Object> rules,
      PriceType priceType,
      LineBillable billable) {}

  /** For a plan's base price, which meters nothing, the id is null. */
  record LineBillable(
      Id id,
      boolean showOnInvoice,
      boolean hidden,
      String singleUnitLabel,
      String multipleUnitLabel) {}

  record InvoicePage(List<InvoiceView> results, long count, long pages, long currentPage)
      implements Reply {}
}

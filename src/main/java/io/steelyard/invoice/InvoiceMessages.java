package io.steelyard.invoice;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.steelyard.bus.Address;
import io.steelyard.bus.Reply;
import io.steelyard.bus.Request;
import io.steelyard.domain.Actor;
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

  /** An invoice with its total and its lines. */
  record GetInvoice(String id) implements InvoiceMessages<InvoiceView> {}

  /** The changes of an invoice's state. */
  record ListTransitions(String invoiceId, Paging paging)
      implements InvoiceMessages<TransitionPage> {}

  /**
   * Makes an invoice paid by a payment from outside. This change and the others are refused with
   * {@code illegal_transition} where the invoice's state does not allow them.
   *
   * @param reference what the payment is known by; may be null
   */
  record RecordPayment(String id, String reference) implements InvoiceMessages<InvoiceView> {}

  /**
   * @param reason may be null
   */
  record VoidInvoice(String id, String reason) implements InvoiceMessages<InvoiceView> {}

  /**
   * Makes an invoice uncollectible.
   *
   * @param reason may be null
   */
  record WriteOff(String id, String reason) implements InvoiceMessages<InvoiceView> {}

  /** Has an invoice made known to its gateway. */
  record RequestSync(String id) implements InvoiceMessages<InvoiceView> {}

  /** Has an invoice sent to the customer by its gateway. */
  record RequestSending(String id) implements InvoiceMessages<InvoiceView> {}

  /** Has an invoice charged whose charge failed. */
  record RequestCollection(String id) implements InvoiceMessages<InvoiceView> {}

  /**
   * Has an invoice to come charge the difference between what the usage of a closed period costs
   * and what was billed for it, if there is one.
   *
   * @param period its index
   */
  record RequestRebill(String subscriptionId, int period)
      implements InvoiceMessages<RebillRequested> {}

  record RebillRequested(Id subscriptionId, int period) implements Reply {}

  /**
   * @param requestId of the request that asked for the change; null for work that nobody asked for
   * @param at by the merchant's clock
   * @param recordedAt by the system's
   */
  record TransitionView(
      Id id,
      Id invoiceId,
      InvoiceStatus from,
      InvoiceStatus to,
      Actor actor,
      String reason,
      String requestId,
      Instant at,
      Instant recordedAt) {}

  record TransitionPage(List<TransitionView> results, long count, long pages, long currentPage)
      implements Reply {}

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

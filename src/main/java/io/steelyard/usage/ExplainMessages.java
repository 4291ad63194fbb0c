package io.steelyard.usage;

import io.steelyard.bus.Address;
import io.steelyard.bus.Reply;
import io.steelyard.bus.Request;
import io.steelyard.domain.Id;
import io.steelyard.domain.Paging;
import java.time.Instant;
import java.util.List;
import java.util.Map;

/** What the explain verticle may be asked: which events a line of an invoice was computed from. */
public sealed interface ExplainMessages<R extends Reply> extends Request<R> {
  @Override
  default Address address() {
    return Address.EXPLAIN;
  }

  /**
   * The events of a line by {@code generatedAt} and key; none for a line of a fixed price.
   *
   * @param invoiceId any text, like {@code lineItemId}; what is no such id is not found
   */
  record ListLineEvents(String invoiceId, String lineItemId, Paging paging)
      implements ExplainMessages<LineEventPage> {}

  /**
   * An event as it was sent.
   *
   * @param id of its idempotency key, which is not kept as sent
   * @param userId null when the event names no user
   * @param data null when none was sent
   */
  record LineEvent(
      Id id,
      Id customerId,
      String eventName,
      Instant generatedAt,
      String userId,
      Map<String, Object> data) {}

  record LineEventPage(List<LineEvent> results, long count, long pages, long currentPage)
      implements Reply {
    public LineEventPage {
      results = List.copyOf(results);
    }
  }
}

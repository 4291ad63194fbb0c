package io.steelyard.usage;

import io.steelyard.bus.Call;
import io.steelyard.bus.Failure;
import io.steelyard.domain.Id;
import io.steelyard.domain.IdKind;
import io.steelyard.domain.Paging;
import io.steelyard.json.Json;
import io.steelyard.usage.EventPage.Place;
import io.steelyard.usage.ExplainMessages.LineEvent;
import io.steelyard.usage.ExplainMessages.LineEventPage;
import io.steelyard.usage.ExplainStore.Scan;
import io.steelyard.usage.Matching.Hit;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.sqlclient.SqlClient;
import java.util.ArrayList;
import java.util.List;

/**
 * Walks once through the period of a line, some events at a time: keeps the page that was asked for
 * and counts the rest. What counts is decided by the same {@link Matching} as in the fold.
 */
final class LineScan {
  private final ExplainStore store;
  private final SqlClient client;
  private final Scan scan;
  private final Meter meter;
  private final Paging paging;
  private final Call call;
  private final List<LineEvent> page = new ArrayList<>();
  private final Promise<LineEventPage> answer = Promise.promise();
  private long count;

  /**
   * @param call whose deadline ends the scan
   */
  LineScan(ExplainStore store, SqlClient client, Scan scan, Meter meter, Paging paging, Call call) {
    this.store = store;
    this.client = client;
    this.scan = scan;
    this.meter = meter;
    this.paging = paging;
    this.call = call;
  }

  /** Reads all; to be called once. */
  Future<LineEventPage> run() {
    readAfter(ExplainStore.start(scan));
    return answer.future();
  }

  /** A loop, not a chain of Futures, which would grow with the period. */
  private void readAfter(Place place) {
    if (call.expired()) {
      answer.fail(new Failure.TimedOut("Not all events could be read in time.").asException());
      return;
    }
    store
        .events(client, scan, place)
        .map(this::take)
        .onFailure(answer::fail)
        .onSuccess(
            next -> {
              if (next == null) {
                answer.complete(page(page, count, paging));
              } else {
                readAfter(next);
              }
            });
  }

  /** Counts the events; where to go on. */
  private Place take(EventPage events) {
    List<Hit> hits = Matching.of(events.events(), List.of(meter)).hits();
    for (Hit hit : paging.ascending() ? hits : hits.reversed()) {
      if (count >= paging.offset() && page.size() < paging.pageSize()) {
        page.add(view(hit.event()));
      }
      count++;
    }
    return events.next();
  }

  static LineEventPage page(List<LineEvent> results, long count, Paging paging) {
    return new LineEventPage(results, count, paging.pages(count), paging.page());
  }

  private static LineEvent view(StoredEvent event) {
    return new LineEvent(
        new Id(IdKind.EVENT, event.key()),
        new Id(IdKind.CUSTOMER, event.customerId()),
        event.name(),
        event.generatedAt(),
        event.userId(),
        event.data() == null ? null : Json.readMap(event.data()));
  }
}

package io.steelyard.usage;

import io.steelyard.bus.Address;
import io.steelyard.bus.Reply;
import io.steelyard.bus.Request;
import io.steelyard.domain.Id;
import io.steelyard.domain.WireName;
import java.time.Instant;
import java.util.List;

/**
 * What may be asked about the events of all merchants that are kept, month by month. A month is of
 * UTC and reads {@code 2026-10}.
 */
public sealed interface RetentionMessages<R extends Reply> extends Request<R> {
  @Override
  default Address address() {
    return Address.RETENTION;
  }

  record ListEventMonths() implements RetentionMessages<EventMonthList> {}

  /**
   * Drops the events of a month, but not their keys. Not found where there are none; a conflict
   * while something may still need them.
   */
  record DropEventMonth(String month) implements RetentionMessages<EventMonthDropped> {}

  /** Those that have events, in their order. */
  record EventMonthList(List<EventMonth> results) implements Reply {
    public EventMonthList {
      results = List.copyOf(results);
    }
  }

  /**
   * @param bytes on disk
   * @param droppedAt when it was dropped last, so that what is there came later; null for never
   * @param heldBy what still needs the events, at most some of each reason; empty when nothing does
   */
  record EventMonth(
      String month, long bytes, boolean droppable, Instant droppedAt, List<Need> heldBy) {
    public EventMonth {
      heldBy = List.copyOf(heldBy);
    }
  }

  /**
   * @param subscriptionId null where it is not for one subscription
   */
  record Need(Reason reason, Id merchantId, Id subscriptionId) {
    @Override
    public String toString() {
      return reason.wire()
          + " of "
          + merchantId
          + (subscriptionId == null ? "" : ", " + subscriptionId);
    }
  }

  record EventMonthDropped(String month) implements Reply {}

  /** Why events are still needed. */
  enum Reason implements WireName {
    /** The merchant's time has not passed the month. */
    CLOCK("clock"),
    /** A period with an end that began in the month or before it is not closed. */
    OPEN_PERIOD("openPeriod"),
    /** The invoice of a period that overlaps the month is not final. */
    INVOICE("invoice"),
    /** A period that overlaps the month is to be billed again. */
    CORRECTION("correction"),
    /** Events of the month are to be counted in a period, or counted anew. */
    RECOUNT("recount"),
    /** Events of the month were accepted and not counted yet. */
    WAITING_EVENTS("waitingEvents");

    private final String wire;

    Reason(String wire) {
      this.wire = wire;
    }

    @Override
    public String wire() {
      return wire;
    }
  }
}

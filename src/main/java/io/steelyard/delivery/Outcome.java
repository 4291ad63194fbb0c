package io.steelyard.delivery;

import io.steelyard.domain.CollectionOutcome;

/** What came of one attempt at a gateway. */
sealed interface Outcome {
  /** As the metric names it. */
  String name();

  /** Whether the gateway has given the same answer twice. */
  default boolean repeated() {
    return false;
  }

  record Synced(String externalId, boolean repeated) implements Outcome {
    @Override
    public String name() {
      return "synced";
    }
  }

  /**
   * @param detail the gateway's own words; may be null
   */
  record Collected(CollectionOutcome outcome, String detail, boolean repeated) implements Outcome {
    @Override
    public String name() {
      return outcome.wire();
    }
  }

  /** The gateway had the money already. */
  record PaidBefore() implements Outcome {
    @Override
    public String name() {
      return "paidBefore";
    }
  }

  record Sent(boolean repeated) implements Outcome {
    @Override
    public String name() {
      return "sent";
    }
  }

  /** The gateway knows the invoice no more. */
  record Lost() implements Outcome {
    @Override
    public String name() {
      return "lost";
    }
  }

  /**
   * No further attempt would help by itself.
   *
   * @param verdict whether it is the gateway that said no
   */
  record Refused(String detail, boolean verdict) implements Outcome {
    @Override
    public String name() {
      return "refused";
    }
  }

  /** No verdict; whether anything was done is unknown. */
  record Unanswered(String error) implements Outcome {
    @Override
    public String name() {
      return "unanswered";
    }
  }
}

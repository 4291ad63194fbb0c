package io.steelyard.web;

/**
 * How many requests are in flight, and may be: of one instance, or of one merchant. A request whose
 * body falls silent is not among them until the body is whole; of these there may be so many and no
 * more either.
 *
 * <p>Counts for one thread at a time: an instance's on its event loop, a merchant's while {@link
 * MerchantShares} holds on to the merchant.
 */
final class InFlight {
  private final int max;
  private final int silentMax;
  private int count;
  private int silent;

  /**
   * @param max of those in flight, at least 1
   * @param silentMax of those that are silent besides
   */
  InFlight(int max, int silentMax) {
    this.max = max;
    this.silentMax = silentMax;
  }

  /** One more request's slot, in flight; null where there is none. */
  Slot enter() {
    Slot slot = new Slot();
    return slot.enter() ? slot : null;
  }

  boolean isFull() {
    return count >= max;
  }

  /** Whether there is no request, not even a silent one. */
  boolean isEmpty() {
    return count == 0 && silent == 0;
  }

  private enum State {
    IN_FLIGHT,
    SILENT,
    OUT
  }

  /** One request's. */
  final class Slot {
    private State state = State.OUT;

    private Slot() {}

    /** Whether it is in flight from here on; if there is no room, it stays what it was. */
    boolean enter() {
      if (state == State.IN_FLIGHT) {
        return true;
      }
      if (isFull()) {
        return false;
      }
      leave();
      count++;
      state = State.IN_FLIGHT;
      return true;
    }

    /** Whether {@link #suspend} would find room now. */
    boolean maySuspend() {
      return silent < silentMax;
    }

    /** Whether it is silent from here on, until it enters again or leaves; else it goes on. */
    boolean suspend() {
      if (!maySuspend()) {
        return false;
      }
      leave();
      silent++;
      state = State.SILENT;
      return true;
    }

    boolean isSilent() {
      return state == State.SILENT;
    }

    /** For a while or for good; nothing more where it has left. */
    void leave() {
      switch (state) {
        case IN_FLIGHT -> count--;
        case SILENT -> silent--;
        case OUT -> {}
      }
      state = State.OUT;
    }
  }
}

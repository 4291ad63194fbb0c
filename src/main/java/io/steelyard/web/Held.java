package io.steelyard.web;

import io.vertx.core.Future;

/**
 * What one request holds from its admission to its answer: a slot of its instance's, a place of its
 * merchant's, and the bytes of its body with both. Belongs to the event loop of its request.
 */
final class Held {
  private final Admission admission;
  private final InFlight.Slot slot;
  private final Place place;
  private final BodyBytes instance;
  private long bytes;

  /**
   * @param place null for a request of no merchant
   * @param instance where the bytes count too
   */
  Held(Admission admission, InFlight.Slot slot, Place place, BodyBytes instance) {
    this.admission = admission;
    this.slot = slot;
    this.place = place;
    this.instance = instance;
  }

  /** Whether slot and place are for others from now on, until the rest of its body is there. */
  boolean suspend() {
    return place != null && slot.maySuspend() && place.suspend() && slot.suspend();
  }

  /**
   * Has both again where they were suspended, which may take as long as a request may wait for a
   * place. Fails as overloaded.
   */
  Future<?> resume() {
    return slot.isSilent() ? admission.resume(slot, place) : Future.succeededFuture();
  }

  /** Whether so much more fits now; counted once it is taken, as senders promise at will. */
  boolean fits(long more) {
    return instance.fits(more) && (place == null || place.fits(more));
  }

  boolean take(int more) {
    if (!instance.fits(more) || (place != null && !place.take(more))) {
      return false;
    }
    bytes += more;
    instance.take(more);
    return true;
  }

  void giveBack(long fewer) {
    bytes -= fewer;
    instance.giveBack(fewer);
    if (place != null) {
      place.giveBack(fewer);
    }
  }

  /** Of so many bytes that did not fit. */
  Refusal refusal(long more) {
    return instance.refusal(more);
  }

  /** Gives all of it back but the slot. Once. */
  void end() {
    giveBack(bytes);
    if (place != null) {
      place.leave();
    }
  }
}

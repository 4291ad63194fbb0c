package io.steelyard.web;

import io.steelyard.bus.Failure;
import io.steelyard.bus.Waits;
import io.steelyard.domain.Id;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.internal.ContextInternal;

/**
 * A request whose merchant has all that it may have in flight. It is made, waits and ends on one
 * context; what it gets may come from any.
 */
final class PlaceWait extends Waits.Wait {
  // What a request takes while it waits: its head, and as much of its body as comes before the
  // connection is no longer read.
  static final int HEAD_BYTES = 2048;
  private static final int UNREAD_BYTES_MAX = 256 * 1024;

  private final MerchantShares shares;
  private final Id merchant;
  private final long bodyBytes;
  private final Waits waits;
  private final boolean returning;
  private final ContextInternal context = ContextInternal.current();
  private final Promise<Place> place = context.promise();
  private boolean inLine;

  /** Written by who admits, and read once it is handed over. */
  private Place given;

  /** For a place. */
  PlaceWait(MerchantShares shares, Id merchant, long bodyBytes, int waitMs, Waits waits) {
    this(shares, merchant, bodyBytes, null, waitMs, waits);
  }

  /** For being in flight again at a place that is suspended. */
  PlaceWait(MerchantShares shares, Place suspended, int waitMs, Waits waits) {
    this(shares, suspended.merchant(), 0, suspended, waitMs, waits);
  }

  private PlaceWait(
      MerchantShares shares,
      Id merchant,
      long bodyBytes,
      Place suspended,
      int waitMs,
      Waits waits) {
    super(waitMs);
    this.shares = shares;
    this.merchant = merchant;
    this.bodyBytes = bodyBytes;
    this.returning = suspended != null;
    this.given = suspended;
    this.waits = waits;
  }

  Id merchant() {
    return merchant;
  }

  /** Whether it is for a place that was had before, and suspended. */
  boolean isReturning() {
    return returning;
  }

  /** Those that are said to follow; negative where nothing is said. */
  long bodyBytes() {
    return bodyBytes;
  }

  /** Of memory, about. */
  long bytes() {
    return HEAD_BYTES + (bodyBytes < 0 ? UNREAD_BYTES_MAX : Math.min(bodyBytes, UNREAD_BYTES_MAX));
  }

  void joined() {
    inLine = true;
  }

  /** It is in no line, and somebody counts it until it is refused. */
  void endsInVain(Runnable whenRefused) {
    place.future().onFailure(refused -> whenRefused.run());
  }

  /** Whether it may get a place; otherwise it only waits to be refused. */
  boolean isInLine() {
    return inLine;
  }

  /** Fails with {@link Failure.Overloaded} when the time is up. */
  Future<Place> place() {
    return place.future();
  }

  void given(Place its) {
    given = its;
  }

  Place given() {
    return given;
  }

  void begin() {
    waits.add(this);
  }

  /**
   * Later, never within the call: who gives its place away may have something left to count, and of
   * a long line whose requests end at once each would give its place to the next, ever deeper.
   */
  void handOver() {
    waits.remove(this);
    context.runOnContext(
        now -> {
          if (!place.tryComplete(given)) {
            given.leave();
          }
        });
  }

  /** No place is wanted any more, not even one that is on its way. */
  void giveUp() {
    waits.remove(this);
    shares.leaveLine(this);
    refuse();
  }

  void refuse() {
    place.tryFail(
        new Failure.Overloaded(
                "overloaded",
                "Too many requests of this merchant, or bytes of their bodies, are under way."
                    + " Try again.",
                1)
            .asException());
  }

  @Override
  protected void expire() {
    if (!inLine || shares.leaveLine(this)) {
      refuse();
    }
  }
}

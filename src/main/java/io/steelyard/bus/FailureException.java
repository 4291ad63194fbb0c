package io.steelyard.bus;

import io.vertx.core.Future;
import io.vertx.core.eventbus.ReplyException;
import io.vertx.core.eventbus.ReplyFailure;

/** Carries a {@link Failure} through Futures and over the bus. */
public final class FailureException extends ReplyException {
  private static final long serialVersionUID = 1L;

  private final transient Failure failure;

  public FailureException(Failure failure) {
    super(ReplyFailure.RECIPIENT_FAILURE, 1, failure.code() + ": " + failure.detail());
    this.failure = failure;
  }

  public Failure failure() {
    return failure;
  }

  public static <T> Future<T> failed(Failure failure) {
    return Future.failedFuture(new FailureException(failure));
  }
}

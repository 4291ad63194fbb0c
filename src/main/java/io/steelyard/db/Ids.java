package io.steelyard.db;

import com.github.f4b6a3.uuid.UuidCreator;
import io.steelyard.domain.Id;
import io.steelyard.domain.IdKind;
import java.nio.charset.StandardCharsets;
import java.util.UUID;

/** New ids: version 7 UUIDs, which sort by the time they were made. */
public final class Ids {
  private static final UUID OPERATIONS = UUID.fromString("3a0f7b9e-51c8-5a39-9d38-0d1c1f1e7d55");

  private Ids() {}

  public static Id next(IdKind kind) {
    return new Id(kind, nextUuid());
  }

  public static UUID nextUuid() {
    return UuidCreator.getTimeOrderedEpoch();
  }

  /** For what is no secret and made in great number: without a lock and strong randomness. */
  public static UUID nextGuessableUuid() {
    return UuidCreator.getTimeOrderedEpochFast();
  }

  /** The same UUID for the same cause, so that a replayed operation collides with itself. */
  public static UUID operation(String cause) {
    return UuidCreator.getNameBasedSha1(OPERATIONS, cause.getBytes(StandardCharsets.UTF_8));
  }
}

package io.steelyard.merchant;

import io.steelyard.domain.Id;
import io.steelyard.merchant.ApiKeyStore.Use;
import io.vertx.core.Future;
import io.vertx.core.Vertx;
import io.vertx.sqlclient.Pool;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Notes when keys were last used, and writes that down for all of them together every so often: no
 * request waits for it, and a key that is used a thousand times a second is written once. Used by
 * one verticle instance on its own thread.
 */
final class KeyUses {
  private static final Logger LOG = LoggerFactory.getLogger(KeyUses.class);

  /** A megabyte; what comes beyond is noted when its key is looked up the next time. */
  private static final int KEYS_MAX = 10_000;

  private final ApiKeyStore store;
  private final Pool pool;
  private final long everyMs;
  private final Map<UUID, Use> noted = new HashMap<>();
  private Future<Void> writing = Future.succeededFuture();

  KeyUses(ApiKeyStore store, Pool pool, long everyMs) {
    this.store = store;
    this.pool = pool;
    this.everyMs = everyMs;
  }

  /** Begins to write; returns the timer to end it with. */
  long start(Vertx vertx) {
    return vertx.setPeriodic(everyMs, timer -> write());
  }

  void note(Id merchantId, Id keyId, Instant at) {
    if (noted.size() < KEYS_MAX || noted.containsKey(keyId.uuid())) {
      noted.put(keyId.uuid(), new Use(merchantId.uuid(), keyId.uuid(), at));
    }
  }

  /** Writes down what was noted; never fails: what could not be written is tried again. */
  Future<Void> write() {
    if (noted.isEmpty() || !writing.isComplete()) {
      return writing;
    }
    List<Use> uses = new ArrayList<>(noted.values());
    uses.sort(Comparator.comparing(Use::keyId));
    noted.clear();
    // half of the time, or what is written at the very end of a turn would be left out of the next
    writing =
        store
            .recordUses(pool, uses, everyMs / 2)
            .recover(
                error -> {
                  LOG.warn("the last uses of {} keys are not written down yet", uses.size(), error);
                  uses.forEach(this::noteAgain);
                  return Future.succeededFuture();
                });
    return writing;
  }

  private void noteAgain(Use use) {
    if (noted.size() < KEYS_MAX) {
      noted.putIfAbsent(use.keyId(), use);
    }
  }
}

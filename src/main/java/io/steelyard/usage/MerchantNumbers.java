package io.steelyard.usage;

import io.vertx.core.Future;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.UUID;
import java.util.function.Function;

/**
 * The numbers of the merchants that sent events lately; they never change. Belongs to one event
 * loop.
 */
final class MerchantNumbers {
  private static final int ENTRIES_MAX = 100_000;

  private final Function<UUID, Future<Integer>> read;
  private final Map<UUID, Integer> numbers =
      new LinkedHashMap<>(16, 0.75f, true) {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<UUID, Integer> eldest) {
          return size() > ENTRIES_MAX;
        }
      };

  private final Map<UUID, Future<Integer>> reading = new HashMap<>();

  /**
   * @param read asks the database
   */
  MerchantNumbers(Function<UUID, Future<Integer>> read) {
    this.read = read;
  }

  /** Null while it is to be read. */
  Integer known(UUID merchantId) {
    return numbers.get(merchantId);
  }

  /** The number, from now on known; read once for all who ask at the same time. */
  Future<Integer> read(UUID merchantId) {
    Future<Integer> underWay = reading.get(merchantId);
    if (underWay != null) {
      return underWay;
    }
    Future<Integer> begun = read.apply(merchantId);
    reading.put(merchantId, begun);
    return begun
        .onComplete(done -> reading.remove(merchantId))
        .onSuccess(number -> numbers.put(merchantId, number));
  }
}

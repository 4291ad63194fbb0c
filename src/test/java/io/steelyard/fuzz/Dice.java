package io.steelyard.fuzz;

import java.util.List;
import java.util.SplittableRandom;

/** Decides everything about one request, from the seed and the request's number alone. */
final class Dice {
  private static final long GOLDEN = 0x9E3779B97F4A7C15L;

  private final SplittableRandom random;

  /** Which of the world's things the request is about; those with one index belong together. */
  private final int index;

  Dice(long seed, long number) {
    this.random = new SplittableRandom((seed + 1) * GOLDEN ^ number);
    this.index = random.nextInt(World.SIZE);
  }

  /** An id, mostly of what the request is about. */
  String one(List<String> ids) {
    return chance(80) ? ids.get(index % ids.size()) : pick(ids);
  }

  boolean chance(int percent) {
    return random.nextInt(100) < percent;
  }

  /** From 0 to {@code bound}, which is excluded. */
  int below(int bound) {
    return random.nextInt(bound);
  }

  long between(long min, long max) {
    return random.nextLong(min, max);
  }

  <T> T pick(List<T> values) {
    return values.get(below(values.size()));
  }

  @SafeVarargs
  final <T> T pick(T... values) {
    return values[below(values.length)];
  }

  byte[] bytes(int count) {
    byte[] bytes = new byte[count];
    random.nextBytes(bytes);
    return bytes;
  }
}

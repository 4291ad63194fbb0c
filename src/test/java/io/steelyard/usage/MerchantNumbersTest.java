package io.steelyard.usage;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/** The database is asked once for a merchant, however many requests of it come first. */
class MerchantNumbersTest {
  private static final UUID MERCHANT = new UUID(0, 1);

  private final List<Promise<Integer>> reads = new ArrayList<>();
  private final MerchantNumbers numbers = new MerchantNumbers(this::read);

  private Future<Integer> read(UUID merchantId) {
    reads.add(Promise.promise());
    return reads.getLast().future();
  }

  @Test
  void whoAsksDuringAReadGetsItsAnswer() {
    Future<Integer> first = numbers.read(MERCHANT);
    Future<Integer> second = numbers.read(MERCHANT);
    Future<Integer> other = numbers.read(new UUID(0, 2));
    assertThat(numbers.known(MERCHANT)).isNull();

    assertThat(reads).hasSize(2);
    reads.getFirst().complete(7);
    reads.getLast().complete(8);

    assertThat(List.of(first.result(), second.result(), other.result())).containsExactly(7, 7, 8);
    assertThat(numbers.known(MERCHANT)).isEqualTo(7);
  }

  @Test
  void aReadThatFailedIsTriedAgain() {
    Future<Integer> first = numbers.read(MERCHANT);
    reads.getFirst().fail("gone");

    Future<Integer> second = numbers.read(MERCHANT);
    reads.getLast().complete(7);

    assertThat(first.failed()).isTrue();
    assertThat(second.result()).isEqualTo(7);
    assertThat(reads).hasSize(2);
  }
}

package io.steelyard.usage;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.usage.BatchStore.Batch;
import io.vertx.core.Vertx;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What is held between storing and counting. */
class HeldEventsTest {
  private final Vertx vertx = Vertx.vertx();
  private final HeldEvents held = HeldEvents.of(vertx);
  private final UUID merchant = UUID.randomUUID();
  private final List<StoredEvent> taken = new ArrayList<>();

  @AfterEach
  void close() {
    vertx.close().await();
  }

  private Batch.Ref batch(long number) {
    return new Batch.Ref(number, merchant);
  }

  private Batch claim(long number, int events) {
    return new Batch(batch(number), events, 1);
  }

  private static EncodedEvents request(String... names) {
    List<UsageEvent> events = new ArrayList<>();
    for (String name : names) {
      events.add(
          new UsageEvent(
              UUID.randomUUID(), 1, new UUID(1, 1), null, name, Instant.EPOCH, null, null));
    }
    return UsageEvent.encoded(events);
  }

  @Test
  void nothingIsHeldUnlessAFoldWantsIt() {
    held.hold(batch(1), List.of(request("a")));

    assertThat(held.take(List.of(claim(1, 1)), taken)).containsExactly(batch(1));
    assertThat(taken).isEmpty();
  }

  @Test
  void whatIsHeldIsTakenOnceAndWhatIsNotIsNamed() {
    held.upTo(1 << 20, 100);
    held.hold(batch(1), List.of(request("a", "b"), request("c")));
    held.hold(batch(2), List.of(request("d")));

    assertThat(held.take(List.of(claim(1, 3), claim(3, 1)), taken)).containsExactly(batch(3));
    assertThat(taken).extracting(StoredEvent::name).containsExactly("a", "b", "c");
    assertThat(taken).extracting(StoredEvent::merchantId).containsOnly(merchant);
    assertThat(held.take(List.of(claim(1, 3)), taken)).containsExactly(batch(1));
  }

  @Test
  void itKeepsUpWhileLessIsHeldThanOneClaimTakesAndThereIsRoom() {
    EncodedEvents three = request("a", "b", "c");
    assertThat(held.keepsUp()).isFalse(); // nobody counts
    held.upTo(2 * three.bytes(), 4);
    assertThat(held.keepsUp()).isTrue();
    held.hold(batch(1), List.of(three));
    held.hold(batch(1), List.of(three)); // the same once more
    assertThat(held.events()).isEqualTo(3);
    assertThat(held.keepsUp()).isTrue();
    held.hold(batch(2), List.of(request("d")));
    assertThat(held.keepsUp()).isFalse();

    held.take(List.of(claim(1, 3), claim(2, 1)), taken);
    assertThat(held.events()).isZero();
    assertThat(held.keepsUp()).isTrue();

    held.upTo(three.bytes(), 100);
    held.hold(batch(3), List.of(three));
    assertThat(held.keepsUp()).isFalse();
  }

  @Test
  void batchesOfOneNumberAreToldApartByTheirMerchants() {
    held.upTo(1 << 20, 100);
    Batch.Ref other = new Batch.Ref(1, UUID.randomUUID());
    held.hold(batch(1), List.of(request("a")));

    assertThat(held.take(List.of(new Batch(other, 1, 1)), taken)).containsExactly(other);
  }

  @Test
  void whatIsHeldOfAnotherNumberOfEventsIsNotTheBatch() {
    held.upTo(1 << 20, 100);
    held.hold(batch(1), List.of(request("a", "b")));

    assertThat(held.take(List.of(claim(1, 1)), taken)).containsExactly(batch(1));
    assertThat(taken).isEmpty();
  }

  @Test
  void whatWasClaimedBeforeItCameIsNotKept() {
    EncodedEvents request = request("a");
    held.upTo(request.bytes(), 100);
    assertThat(held.take(List.of(claim(1, 1)), taken)).containsExactly(batch(1));

    held.hold(batch(1), List.of(request));
    held.hold(batch(2), List.of(request)); // which has room

    assertThat(held.take(List.of(claim(2, 1)), taken)).isEmpty();
  }

  @Test
  void noMoreIsHeldThanThereIsRoomForAndWhatIsTakenMakesRoom() {
    EncodedEvents request = request("a");
    held.upTo(2 * request.bytes(), 100);
    for (int i = 1; i <= 3; i++) {
      held.hold(batch(i), List.of(request));
    }
    assertThat(held.take(List.of(claim(3, 1), claim(1, 1)), taken)).containsExactly(batch(3));

    held.hold(batch(4), List.of(request));
    held.hold(batch(2), List.of(request)); // once more, in place of what was there

    assertThat(held.take(List.of(claim(2, 1), claim(4, 1)), taken)).isEmpty();
    assertThat(taken).hasSize(3);
  }
}

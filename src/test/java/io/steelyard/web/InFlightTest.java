package io.steelyard.web;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

class InFlightTest {
  private final InFlight requests = new InFlight(2, 1);

  @Test
  void asManyEnterAsThereMayBe() {
    InFlight.Slot first = requests.enter();
    requests.enter();
    assertThat(requests.isFull()).isTrue();
    assertThat(requests.enter()).isNull();

    first.leave();

    assertThat(requests.enter()).isNotNull();
    assertThat(requests.isFull()).isTrue();
  }

  @Test
  void whoIsSilentLeavesItsRoomToOthersAndFindsItTakenThen() {
    InFlight.Slot silent = requests.enter();
    InFlight.Slot other = requests.enter();

    assertThat(silent.suspend()).isTrue();
    assertThat(silent.isSilent()).isTrue();
    assertThat(requests.enter()).isNotNull();
    assertThat(silent.enter()).isFalse();
    assertThat(silent.isSilent()).isTrue();

    other.leave();
    assertThat(silent.enter()).isTrue();
    assertThat(silent.isSilent()).isFalse();
    assertThat(requests.isFull()).isTrue();
  }

  @Test
  void asManyAreSilentAsThereMayBe() {
    InFlight.Slot one = requests.enter();
    InFlight.Slot another = requests.enter();

    assertThat(one.suspend()).isTrue();
    assertThat(another.maySuspend()).isFalse();
    assertThat(another.suspend()).isFalse();
    assertThat(another.isSilent()).isFalse();

    one.leave();
    assertThat(another.suspend()).isTrue();
  }

  @Test
  void whoeverHasLeftCountsNowhereHoweverOftenItLeaves() {
    InFlight.Slot silent = requests.enter();
    InFlight.Slot other = requests.enter();
    silent.suspend();
    assertThat(requests.isEmpty()).isFalse();

    silent.leave();
    silent.leave();
    assertThat(requests.isEmpty()).isFalse();
    other.leave();
    other.leave();

    assertThat(requests.isEmpty()).isTrue();
    requests.enter();
    assertThat(requests.isFull()).isFalse();
    assertThat(other.enter()).isTrue();
    assertThat(other.enter()).isTrue();
    assertThat(requests.isFull()).isTrue();
  }
}

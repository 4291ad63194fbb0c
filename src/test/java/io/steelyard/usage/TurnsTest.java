package io.steelyard.usage;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.usage.Flush.Pending;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.stream.Stream;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.Tuple;
import org.junit.jupiter.api.Test;

/** However requests come and go, merchants take turns and nothing is lost or overtaken. */
class TurnsTest {
  private static final int MERCHANTS = 4;

  /** A request that comes, or a take of what waits. */
  private sealed interface Step {
    record Add(int merchant, int events, int bytes) implements Step {}

    record Take(int eventsMax, int bytesMax) implements Step {}
  }

  @Provide
  Arbitrary<List<Step>> steps() {
    Arbitrary<Step> adds =
        Combinators.combine(
                Arbitraries.integers().between(0, MERCHANTS - 1),
                Arbitraries.integers().between(1, 20),
                Arbitraries.integers().between(1, 500))
            .as(Step.Add::new);
    Arbitrary<Step> takes =
        Combinators.combine(
                Arbitraries.integers().between(1, 40), Arbitraries.integers().between(1, 6000))
            .as(Step.Take::new);
    return Arbitraries.frequencyOf(Tuple.of(4, adds), Tuple.of(1, takes)).list().ofMaxSize(120);
  }

  private static UUID merchant(int number) {
    return new UUID(0, number);
  }

  private static Pending request(int merchant, int events, int bytes) {
    return new Pending(
        merchant(merchant),
        merchant,
        new EncodedEvents(columns(events, new byte[bytes]), new int[events]));
  }

  private static EventColumns columns(int events, byte[] content) {
    EventColumns.Builder columns = new EventColumns.Builder(events);
    for (int i = 0; i < events; i++) {
      columns.add(null, 0, i, 0, "e", null);
    }
    return columns.build(content);
  }

  /** The same, with nothing but lists. */
  private static final class Model {
    private final List<Pending> waiting = new ArrayList<>();
    private final Deque<UUID> turns = new ArrayDeque<>();

    private void add(Pending request) {
      if (!turns.contains(request.merchantId())) {
        turns.add(request.merchantId());
      }
      waiting.add(request);
    }

    private Stream<Pending> of(UUID merchantId) {
      return waiting.stream().filter(each -> each.merchantId().equals(merchantId));
    }

    private Pending next() {
      return of(turns.peek()).findFirst().orElseThrow();
    }

    private void took(Pending request) {
      waiting.removeIf(each -> each == request);
      UUID merchant = turns.poll();
      if (of(merchant).findFirst().isPresent()) {
        turns.add(merchant);
      }
    }

    private static long events(Stream<Pending> requests) {
      return requests.mapToLong(Pending::count).sum();
    }

    private static long bytes(Stream<Pending> requests) {
      return requests.mapToLong(Pending::bytes).sum();
    }
  }

  @Property
  void eachMerchantsRequestsComeInTheirOrderAndMerchantsInTurns(@ForAll("steps") List<Step> steps) {
    Turns turns = new Turns();
    Model model = new Model();
    for (Step step : steps) {
      switch (step) {
        case Step.Add add -> {
          Pending request = request(add.merchant(), add.events(), add.bytes());
          turns.add(request);
          model.add(request);
        }
        case Step.Take take -> take(turns, model, take.eventsMax(), take.bytesMax());
      }
      assertSums(turns, model);
    }
    take(turns, model, Integer.MAX_VALUE, Long.MAX_VALUE);
    assertThat(turns.isEmpty()).isTrue();
    assertThat(model.waiting).isEmpty();
  }

  private static void take(Turns turns, Model model, int eventsMax, long bytesMax) {
    List<Pending> taken = turns.take(eventsMax, bytesMax);

    assertThat(taken.isEmpty()).isEqualTo(model.waiting.isEmpty());
    for (Pending request : taken) {
      assertThat(request).isSameAs(model.next());
      model.took(request);
    }
    if (taken.size() > 1) {
      assertThat(Model.events(taken.stream())).isLessThanOrEqualTo(eventsMax);
      assertThat(Model.bytes(taken.stream())).isLessThanOrEqualTo(bytesMax);
    }
    if (!model.waiting.isEmpty()) { // it stopped for a reason
      boolean tooMany = Model.events(taken.stream()) + model.next().count() > eventsMax;
      boolean tooLarge = Model.bytes(taken.stream()) + model.next().bytes() > bytesMax;
      assertThat(tooMany || tooLarge).isTrue();
    }
  }

  private static void assertSums(Turns turns, Model model) {
    assertThat(turns.isEmpty()).isEqualTo(model.waiting.isEmpty());
    assertThat(turns.events()).isEqualTo(Model.events(model.waiting.stream()));
    assertThat(turns.bytes()).isEqualTo(Model.bytes(model.waiting.stream()));
    for (int i = 0; i < MERCHANTS; i++) {
      UUID id = merchant(i);
      assertThat(turns.eventsOf(id)).isEqualTo(Model.events(model.of(id)));
      assertThat(turns.bytesOf(id)).isEqualTo(Model.bytes(model.of(id)));
    }
  }

  @Test
  void aFloodDelaysAnotherByOneRequestOnly() {
    Turns turns = new Turns();
    for (int i = 0; i < 1000; i++) {
      turns.add(request(1, 10, 10));
    }
    Pending other = request(2, 1, 10);
    turns.add(other);

    assertThat(turns.take(100, Long.MAX_VALUE)).hasSize(10).element(1).isSameAs(other);
  }

  @Test
  void aRequestLargerThanWhatIsAskedComesAlone() {
    Turns turns = new Turns();
    Pending large = request(1, 500, 10);
    turns.add(large);
    turns.add(request(2, 1, 10));

    assertThat(turns.take(100, 1000))
        .singleElement()
        .matches(taken -> Objects.equals(taken, large));
  }
}

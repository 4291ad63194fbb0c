package io.steelyard.usage;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.usage.Flush.Pending;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.Predicate;
import java.util.stream.Collectors;
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
  private static final int LITTLE = 30;
  private static final int LITTLE_BYTES = 1500;

  private enum Whose {
    ALL,
    LITTLE,
    MUCH
  }

  /** A request that comes, a take of what waits, or the end of the oldest take. */
  private sealed interface Step {
    record Add(int merchant, int events, int bytes) implements Step {}

    record Take(Whose whose, int eventsMax, int bytesMax) implements Step {}

    record End() implements Step {}
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
                Arbitraries.of(Whose.class),
                Arbitraries.integers().between(1, 40),
                Arbitraries.integers().between(1, 6000))
            .as(Step.Take::new);
    return Arbitraries.frequencyOf(
            Tuple.of(6, adds), Tuple.of(2, takes), Tuple.of(1, Arbitraries.of(new Step.End())))
        .list()
        .ofMaxSize(120);
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
    private final List<UUID> turns = new ArrayList<>();
    private final Deque<List<Pending>> underWay = new ArrayDeque<>();

    private void add(Pending request) {
      if (!turns.contains(request.merchantId())) {
        turns.add(request.merchantId());
      }
      waiting.add(request);
    }

    private Stream<Pending> of(UUID merchantId) {
      return waiting.stream().filter(each -> each.merchantId().equals(merchantId));
    }

    private boolean isLittle(UUID merchantId) {
      List<Pending> all =
          Stream.concat(waiting.stream(), underWay.stream().flatMap(List::stream))
              .filter(is -> is.merchantId().equals(merchantId))
              .toList();
      return events(all.stream()) <= LITTLE && bytes(all.stream()) <= LITTLE_BYTES;
    }

    private boolean isOf(Whose whose, UUID merchantId) {
      return switch (whose) {
        case ALL -> true;
        case LITTLE -> isLittle(merchantId);
        case MUCH -> !isLittle(merchantId);
      };
    }

    private Optional<Pending> next(Predicate<UUID> which) {
      return turns.stream().filter(which).findFirst().flatMap(is -> of(is).findFirst());
    }

    private void took(Pending request) {
      waiting.removeIf(each -> each == request);
      UUID merchant = request.merchantId();
      turns.remove(merchant);
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
    Turns turns = new Turns(LITTLE, LITTLE_BYTES);
    Model model = new Model();
    for (Step step : steps) {
      switch (step) {
        case Step.Add add -> {
          Pending request = request(add.merchant(), add.events(), add.bytes());
          turns.add(request);
          model.add(request);
        }
        case Step.Take take -> take(turns, model, take.whose(), take.eventsMax(), take.bytesMax());
        case Step.End end -> end(turns, model);
      }
      assertSums(turns, model);
    }
    take(turns, model, Whose.ALL, Integer.MAX_VALUE, Long.MAX_VALUE);
    assertThat(turns.isEmpty()).isTrue();
    assertThat(model.waiting).isEmpty();
    while (!model.underWay.isEmpty()) {
      assertThat(turns.isIdle()).isFalse();
      end(turns, model);
    }
    assertThat(turns.isIdle()).isTrue();
  }

  private static void end(Turns turns, Model model) {
    List<Pending> oldest = model.underWay.poll();
    if (oldest != null) {
      turns.ended(oldest);
    }
  }

  private static void take(Turns turns, Model model, Whose whose, int eventsMax, long bytesMax) {
    Set<UUID> meant =
        model.turns.stream().filter(is -> model.isOf(whose, is)).collect(Collectors.toSet());
    List<Pending> taken =
        switch (whose) {
          case ALL -> turns.take(eventsMax, bytesMax);
          case LITTLE -> turns.takeOfLittle(eventsMax, bytesMax);
          case MUCH -> turns.takeOfMuch(eventsMax, bytesMax);
        };

    assertThat(taken.isEmpty()).isEqualTo(meant.isEmpty());
    for (Pending request : taken) {
      assertThat(model.next(meant::contains)).containsSame(request);
      model.took(request);
    }
    if (taken.size() > 1) {
      assertThat(Model.events(taken.stream())).isLessThanOrEqualTo(eventsMax);
      assertThat(Model.bytes(taken.stream())).isLessThanOrEqualTo(bytesMax);
    }
    model
        .next(meant::contains)
        .ifPresent( // it stopped for a reason
            next -> {
              boolean tooMany = Model.events(taken.stream()) + next.count() > eventsMax;
              boolean tooLarge = Model.bytes(taken.stream()) + next.bytes() > bytesMax;
              assertThat(tooMany || tooLarge).isTrue();
            });
    if (!taken.isEmpty()) {
      model.underWay.add(taken);
    }
  }

  private static void assertSums(Turns turns, Model model) {
    assertThat(turns.isEmpty()).isEqualTo(model.waiting.isEmpty());
    assertThat(turns.events()).isEqualTo(Model.events(model.waiting.stream()));
    assertThat(turns.bytes()).isEqualTo(Model.bytes(model.waiting.stream()));
    assertThat(turns.eventsOfLittle())
        .isEqualTo(
            Model.events(model.waiting.stream().filter(each -> model.isLittle(each.merchantId()))));
    for (int i = 0; i < MERCHANTS; i++) {
      UUID id = merchant(i);
      assertThat(turns.eventsOf(id)).isEqualTo(Model.events(model.of(id)));
      assertThat(turns.bytesOf(id)).isEqualTo(Model.bytes(model.of(id)));
    }
  }

  @Test
  void aFloodDelaysAnotherByOneRequestOnly() {
    Turns turns = new Turns(LITTLE, LITTLE_BYTES);
    for (int i = 0; i < 1000; i++) {
      turns.add(request(1, 10, 10));
    }
    Pending other = request(2, 1, 10);
    turns.add(other);

    assertThat(turns.take(100, Long.MAX_VALUE)).hasSize(10).element(1).isSameAs(other);
  }

  @Test
  void aRequestLargerThanWhatIsAskedComesAlone() {
    Turns turns = new Turns(LITTLE, LITTLE_BYTES);
    Pending large = request(1, 500, 10);
    turns.add(large);
    turns.add(request(2, 1, 10));

    assertThat(turns.take(100, 1000))
        .singleElement()
        .matches(taken -> Objects.equals(taken, large));
  }
}

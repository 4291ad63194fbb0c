package io.steelyard.usage;

import static java.util.stream.Collectors.joining;
import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.json.Json;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.Tuple;
import net.jqwik.api.Tuple.Tuple2;
import net.jqwik.api.Tuple.Tuple3;
import org.junit.jupiter.api.Test;

/** What is written of events is read back, from batches and from chunks. */
class EventWriterTest {
  private static final UUID MERCHANT = new UUID(1, 2);

  private static Arbitrary<String> texts() {
    return Arbitraries.oneOf(
        Arbitraries.strings().ascii().ofMaxLength(40),
        Arbitraries.strings()
            .withChars(
                '"', '\\', '/', '\n', '\t', (char) 1, (char) 31, (char) 127, '{', '}', ',', '['),
        codePoints(0x80, 0x2fff),
        codePoints(0x1f300, 0x1faff),
        Arbitraries.of("x", "é", "😀", "\"", "\\").map(text -> text.repeat(8192 / text.length())));
  }

  /** Without halves of astral characters, which no request may bring. */
  private static Arbitrary<String> codePoints(int first, int last) {
    return Arbitraries.integers()
        .between(first, last)
        .filter(point -> Character.getType(point) != Character.SURROGATE)
        .list()
        .ofMaxSize(20)
        .map(points -> new StringBuilder(join(points)).insert(0, "a").toString());
  }

  private static String join(List<Integer> codePoints) {
    StringBuilder text = new StringBuilder();
    codePoints.forEach(text::appendCodePoint);
    return text.toString();
  }

  /** Objects as clients write them. */
  private static Arbitrary<String> data() {
    Arbitrary<String> strings = texts().map(Json::encodeText);
    Arbitrary<String> scalars =
        Arbitraries.oneOf(
            strings,
            Arbitraries.of(
                "0",
                "-1.50",
                "1e-7",
                "12E+3",
                "true",
                "null",
                "{}",
                "[ ]",
                "\"\\u00e9\"",
                "\"\\ud83d\\ude00\\/\"",
                "[{\"d\":{\"c\":\"k\"}},[1,2 ]]"));
    Arbitrary<String> spaces = Arbitraries.of("", " ", "\n", "\t \r\n");
    return Combinators.combine(texts(), scalars, spaces)
        .as(Tuple::of)
        .list()
        .uniqueElements(Tuple3::get1)
        .ofMaxSize(4)
        .map(
            members ->
                members.stream().map(EventWriterTest::member).collect(joining(",", "{", "}")));
  }

  private static String member(Tuple3<String, String, String> member) {
    String space = member.get3();
    return space + Json.encodeText(member.get1()) + space + ":" + space + member.get2() + space;
  }

  @Provide
  Arbitrary<List<UsageEvent>> events() {
    Arbitrary<UUID> uuids =
        Arbitraries.oneOf(
            Combinators.combine(Arbitraries.longs(), Arbitraries.longs()).as(UUID::new),
            Arbitraries.of(new UUID(0, 0), new UUID(-1, -1), new UUID(Long.MIN_VALUE, 5)));
    Arbitrary<Instant> times =
        Arbitraries.longs()
            .between(946_684_800_000L, 4_102_444_799_999L)
            .map(Instant::ofEpochMilli);
    Arbitrary<Tuple2<UUID, String>> customers =
        Arbitraries.oneOf(
            uuids.map(id -> Tuple.of(id, null)), texts().map(ref -> Tuple.of(null, ref)));
    return Combinators.combine(
            uuids,
            Arbitraries.integers(),
            customers,
            texts(),
            times,
            texts().injectNull(0.5),
            data().injectNull(0.3))
        .as(
            (key, hash, customer, name, at, user, data) ->
                new UsageEvent(key, hash, customer.get1(), customer.get2(), name, at, user, data))
        .list()
        .ofMinSize(1)
        .ofMaxSize(40);
  }

  private static byte[] batch(EncodedEvents events) {
    String content = new String(events.columns().content(), StandardCharsets.UTF_8);
    assertThat(content).endsWith("},");
    return ('[' + content.substring(0, content.length() - 1) + ']')
        .getBytes(StandardCharsets.UTF_8);
  }

  @Property
  void whatIsWrittenIsRead(@ForAll("events") List<UsageEvent> events) {
    EncodedEvents encoded = UsageEvent.encoded(events);

    List<StoredEvent> read = EventContent.ofBatch(MERCHANT, batch(encoded), null);

    assertThat(SeenEvent.all(read))
        .isEqualTo(events.stream().map(event -> SeenEvent.of(MERCHANT, event)).toList());
    assertThat(UsageEvent.decoded(encoded)).isEqualTo(events);
    assertThat(encoded.count()).isEqualTo(events.size());
  }

  /** The fold of the process that stored them has them from there, every other from the JSON. */
  @Property(tries = 300)
  void whatIsHeldIsAsWhatIsReadBack(@ForAll("events") List<UsageEvent> events) {
    EncodedEvents encoded = UsageEvent.encoded(events);

    List<StoredEvent> read = EventContent.ofBatch(MERCHANT, batch(encoded), null);

    for (int i = 0; i < events.size(); i++) {
      StoredEvent held = new StoredEvent(MERCHANT, encoded.columns(), i);
      assertThat(SeenEvent.of(held)).isEqualTo(SeenEvent.of(read.get(i)));
      assertThat(json(held)).isEqualTo(json(read.get(i)));
    }
  }

  /** Whoever reads an object by hand must come to what the library makes of it. */
  @Property(tries = 300)
  void dataHasTheMembersThatTheLibraryReads(@ForAll("events") List<UsageEvent> events) {
    EventColumns columns = UsageEvent.encoded(events).columns();
    for (int i = 0; i < events.size(); i++) {
      String data = events.get(i).data();
      if (data != null) {
        Map<String, Object> read = Json.readMap(data);
        assertThat(comparable(new StoredData(columns, i))).isEqualTo(comparable(read));
        for (String name : read.keySet()) { // one by one, which is another way to read them
          StoredData stored = new StoredData(columns, i);
          assertThat(comparable(stored.get(name))).isEqualTo(comparable(read.get(name)));
          assertThat(stored).containsKey(name);
          assertThat(stored.containsKey(name + "x")).isEqualTo(read.containsKey(name + "x"));
        }
      }
    }
  }

  /** A number is the same whatever class it has. */
  private static Object comparable(Object value) {
    return switch (value) {
      case Map<?, ?> members -> {
        Map<Object, Object> all = new HashMap<>();
        members.forEach((name, member) -> all.put(name, comparable(member)));
        yield all;
      }
      case List<?> items -> items.stream().map(EventWriterTest::comparable).toList();
      case Number number -> new BigDecimal(number.toString()).stripTrailingZeros();
      case null -> "null";
      default -> value;
    };
  }

  @Property
  void repeatsAreLeftOut(@ForAll("events") List<UsageEvent> events, @ForAll Set<Integer> numbers) {
    Set<Integer> repeats = new HashSet<>();
    numbers.forEach(number -> repeats.add(1 + Math.floorMod(number, events.size())));
    List<SeenEvent> expected = new ArrayList<>();
    for (int i = 0; i < events.size(); i++) {
      if (!repeats.contains(i + 1)) {
        expected.add(SeenEvent.of(MERCHANT, events.get(i)));
      }
    }

    List<StoredEvent> read =
        EventContent.ofBatch(
            MERCHANT, batch(UsageEvent.encoded(events)), repeats.toArray(Integer[]::new));

    assertThat(SeenEvent.all(read)).isEqualTo(expected);
  }

  @Property
  void aChunkHoldsWhatTheBatchHeldButTheCustomer(@ForAll("events") List<UsageEvent> events) {
    List<StoredEvent> read =
        EventContent.ofBatch(MERCHANT, batch(UsageEvent.encoded(events)), null);

    for (int i = 0; i < events.size(); i++) {
      StoredEvent event = read.get(i);
      UUID customer = events.get(i).customerId();
      assertThat(SeenEvent.all(EventContent.ofChunk(MERCHANT, customer, '[' + json(event) + ']')))
          .containsExactly(SeenEvent.of(event));
      var members = Json.readMap(json(event));
      assertThat(members).doesNotContainKey("c");
      assertThat(members.get("r")).isEqualTo(events.get(i).customerRef());
    }
  }

  @Test
  void whatWasLetInIsReadHoweverLongItsNamesAre() {
    String name = "n".repeat(60_000);
    String data = "{\"" + name + "\":1}";
    UsageEvent event =
        new UsageEvent(new UUID(3, 4), 1, new UUID(5, 6), null, "e", Instant.EPOCH, null, data);

    StoredEvent read =
        EventContent.ofBatch(MERCHANT, batch(UsageEvent.encoded(List.of(event))), null).getFirst();

    assertThat(read.data()).isEqualTo(data);
    assertThat(read.facts().property("data." + name)).isPresent();
  }

  private static String json(StoredEvent event) {
    byte[] json = new byte[event.jsonBytes()];
    assertThat(event.copyJson(json, 0)).isEqualTo(json.length);
    return new String(json, StandardCharsets.UTF_8);
  }
}

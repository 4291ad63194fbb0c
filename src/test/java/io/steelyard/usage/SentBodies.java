package io.steelyard.usage;

import static java.util.stream.Collectors.joining;

import io.steelyard.domain.Id;
import io.steelyard.domain.IdKind;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.Tuple;

/** Bodies of events as clients write them, from the plainest to those that are none any more. */
final class SentBodies {
  private static final Arbitrary<String> BLANKS =
      Arbitraries.frequency(
          Tuple.of(12, ""), Tuple.of(2, " "), Tuple.of(1, "\n  "), Tuple.of(1, "\t\r\n"));

  private SentBodies() {}

  /** Nothing in them that is rare, and no fault. */
  static Arbitrary<byte[]> usual() {
    return bodies(customers(), plainTexts(), times(), keys(), usualData());
  }

  /** Each part now and then as few would write it, or not as it may be. */
  static Arbitrary<byte[]> any() {
    Arbitrary<String> texts = mostly(plainTexts(), oddTexts());
    return bodies(
        mostly(customers(), texts),
        texts,
        mostly(times(), mostly(oddTimes(), texts)),
        mostly(keys(), texts),
        mostly(usualData(), mostly(oddData(), values(oddTexts(), oddNumbers()))));
  }

  /** A few bytes changed, left out, put in, or all behind one cut off. */
  static Arbitrary<byte[]> damaged() {
    Arbitrary<Damage> damages =
        Combinators.combine(
                Arbitraries.integers().between(0, 1 << 20),
                Arbitraries.integers().between(0, 5),
                Arbitraries.of(
                    "\"\\{}[],:0-.eEtn \n\u0000\u001f\u007f\u0080é".chars().boxed().toList()))
            .as(Damage::new);
    return Combinators.combine(
            Arbitraries.oneOf(usual(), any()), damages.list().ofMinSize(1).ofMaxSize(2))
        .as(
            (body, all) -> {
              byte[] damaged = body;
              for (Damage damage : all) {
                damaged = damage.to(damaged);
              }
              return damaged;
            });
  }

  private record Damage(int place, int kind, int put) {
    byte[] to(byte[] body) {
      int at = place % (body.length + 1);
      byte[] head = Arrays.copyOf(body, at);
      byte[] rest = Arrays.copyOfRange(body, at, body.length);
      byte[] other = Arrays.copyOfRange(body, Math.min(at + 1, body.length), body.length);
      byte[] one = {(byte) put};
      return switch (kind) {
        case 0 -> head;
        case 1 -> joined(head, other);
        case 2 -> joined(head, one, other);
        case 3 -> joined(head, one, rest);
        case 4 -> joined(head, rest.length == 0 ? one : new byte[] {(byte) (rest[0] ^ 1)}, other);
        default -> joined(head, rest.length == 0 ? one : new byte[] {rest[0]}, rest);
      };
    }

    private static byte[] joined(byte[]... parts) {
      byte[] all = {};
      for (byte[] part : parts) {
        int at = all.length;
        all = Arrays.copyOf(all, at + part.length);
        System.arraycopy(part, 0, all, at, part.length);
      }
      return all;
    }
  }

  private static Arbitrary<byte[]> bodies(
      Arbitrary<String> customers,
      Arbitrary<String> texts,
      Arbitrary<String> times,
      Arbitrary<String> keys,
      Arbitrary<String> data) {
    Arbitrary<String> events =
        Combinators.combine(
                member("customerId", customers),
                member("eventName", texts),
                member("generatedAt", times),
                member("idempotencyKey", keys).injectNull(0.3),
                member("userId", texts).injectNull(0.3),
                member("data", data).injectNull(0.2))
            .as(Arrays::asList)
            .flatMap(Arbitraries::shuffle)
            .flatMap(members -> BLANKS.map(blank -> object(members, blank)));
    Arbitrary<String> batches =
        Combinators.combine(events.list().ofMinSize(1).ofMaxSize(6), BLANKS)
            .as(
                (all, blank) ->
                    blank + all.stream().collect(joining("," + blank, "[", "]" + blank)));
    return Arbitraries.frequencyOf(Tuple.of(1, events), Tuple.of(3, batches))
        .map(body -> body.getBytes(StandardCharsets.UTF_8));
  }

  private static String object(List<String> members, String blank) {
    List<String> given = new ArrayList<>(members);
    given.removeIf(member -> member == null);
    return given.stream().collect(joining(blank + "," + blank, "{" + blank, blank + "}" + blank));
  }

  private static Arbitrary<String> member(String name, Arbitrary<String> values) {
    return Combinators.combine(BLANKS, BLANKS, values)
        .as((before, behind, value) -> '"' + name + '"' + before + ":" + behind + value);
  }

  private static Arbitrary<String> mostly(Arbitrary<String> usual, Arbitrary<String> odd) {
    return Arbitraries.frequencyOf(Tuple.of(15, usual), Tuple.of(1, odd));
  }

  private static Arbitrary<UUID> uuids() {
    return Combinators.combine(Arbitraries.longs(), Arbitraries.longs()).as(UUID::new);
  }

  private static Arbitrary<String> customers() {
    return Arbitraries.oneOf(
        uuids().map(uuid -> '"' + new Id(IdKind.CUSTOMER, uuid).toString() + '"'),
        uuids().map(uuid -> '"' + new Id(IdKind.PLAN, uuid).toString() + '"'),
        Arbitraries.of(
            "\"acme\"",
            "\"cus_81h455vb4pex5vsknk084sn02q\"",
            "\"cus_01h455vb4pex5vsknk084sn02u\"",
            "\"cus-01h455vb4pex5vsknk084sn02q\"",
            "\"CUS_01h455vb4pex5vsknk084sn02q\""));
  }

  private static Arbitrary<String> keys() {
    return Arbitraries.oneOf(
        uuids().map(uuid -> '"' + uuid.toString() + '"'),
        uuids().map(uuid -> '"' + uuid.toString().toUpperCase(java.util.Locale.ROOT) + '"'),
        Combinators.combine(uuids(), Arbitraries.integers().between(0, 35), Arbitraries.chars())
            .as((uuid, at, c) -> changed(uuid.toString(), at, (char) (' ' + c % 95))),
        plainTexts());
  }

  private static String changed(String text, int at, char c) {
    char plain = c == '"' || c == '\\' ? 'G' : c;
    return '"' + text.substring(0, at) + plain + text.substring(at + 1) + '"';
  }

  private static Arbitrary<String> plainTexts() {
    return Arbitraries.oneOf(
        Arbitraries.of("\"request\"", "\"n\"", "\"[{,}]:\"", "\" \"", "\"" + "x".repeat(256) + '"'),
        Arbitraries.strings()
            .withCharRange(' ', '~')
            .excludeChars('"', '\\')
            .ofMinLength(1)
            .ofMaxLength(40)
            .map(text -> '"' + text + '"'));
  }

  private static Arbitrary<String> oddTexts() {
    return Arbitraries.of(
        "\"\"",
        "\"é\"",
        "\"\\u00e9\"",
        "\"\\n\"",
        "\"😀\"",
        "\"\\ud83d\"",
        "\"\\u0000\"",
        "\"\u007f\"",
        "\"tab\there\"",
        "\"\\\"\"",
        "\"/\"",
        "\"\\/\"",
        "\"" + "x".repeat(257) + '"',
        "\"" + "é".repeat(256) + '"',
        "null",
        "7",
        "true",
        "{}",
        "['n']",
        "\"");
  }

  private static Arbitrary<String> times() {
    Arbitrary<Instant> instants =
        Arbitraries.longs()
            .between(946_684_800_000L, 4_102_444_799_999L)
            .map(Instant::ofEpochMilli);
    return Combinators.combine(
            instants,
            Arbitraries.of("", ".0", ".120", ".999999", ".0000000001"),
            Arbitraries.of("Z", "Z", "z"))
        .as((instant, fraction, zone) -> '"' + second(instant) + fraction + zone + '"');
  }

  private static String second(Instant instant) {
    return instant.toString().substring(0, 19);
  }

  private static Arbitrary<String> oddTimes() {
    return Arbitraries.of(
            "2026-02-29T00:00:00Z",
            "2024-02-29t00:00:00Z",
            "2026-01-01T01:00:00+02:00",
            "2000-01-01T00:00:00+00:01",
            "2026-01-01T01:00:00.5-18:00",
            "2026-01-01T01:00:00-18:01",
            "1999-12-31T23:59:59.999Z",
            "2000-01-01T00:00:00Z",
            "2099-12-31T23:59:59.9999Z",
            "2100-01-01T00:00:00Z",
            "2026-01-01T00:00:60Z",
            "2026-01-01T24:00:00Z",
            "2026-01-01T00:00:00.Z",
            "2026-01-01T00:00:00",
            "2026-01-01",
            "2026-01-01 00:00:00Z")
        .map(text -> '"' + text + '"');
  }

  private static Arbitrary<String> numbers() {
    return Arbitraries.oneOf(
        Arbitraries.integers().between(-999, 999).map(String::valueOf),
        Arbitraries.longs()
            .between(-999_999_999_999_999_999L, 999_999_999_999_999_999L)
            .map(String::valueOf),
        Arbitraries.of("-0", "0.0", "-0.00", "1.0", "100", "10.50", "-0.5", "0.00000000000000001"),
        Arbitraries.bigDecimals()
            .between(java.math.BigDecimal.valueOf(-99_999), java.math.BigDecimal.valueOf(99_999))
            .ofScale(6)
            .map(java.math.BigDecimal::toPlainString));
  }

  private static Arbitrary<String> oddNumbers() {
    return Arbitraries.oneOf(
        Arbitraries.longs().map(String::valueOf),
        Arbitraries.of(
            "1e2", "1E+2", "1.50e-7", "1e101", "-1e-101", "1000000000000000000", "1.", ".5", "-"),
        Arbitraries.of("01", "00", "-01", "+1", "1.2.3", "0x1", "NaN", "1_0", "9".repeat(64)),
        Arbitraries.of("9".repeat(65), "0." + "3".repeat(64), "0.000000000000000001"));
  }

  private static Arbitrary<String> usualData() {
    return object(Arbitraries.of("count", "n", "nn", "region", "", "z"), plainValues(3));
  }

  private static Arbitrary<String> plainValues(int depth) {
    Arbitrary<String> scalars = values(plainTexts(), numbers());
    if (depth == 0) {
      return scalars;
    }
    Arbitrary<String> inner = plainValues(depth - 1);
    return Arbitraries.frequencyOf(
        Tuple.of(8, scalars),
        Tuple.of(1, object(Arbitraries.of("a", "b", "cc"), inner)),
        Tuple.of(1, array(inner)));
  }

  private static Arbitrary<String> oddData() {
    Arbitrary<String> values = Arbitraries.oneOf(values(oddTexts(), oddNumbers()), plainValues(1));
    Arbitrary<String> names = Arbitraries.of("a", "b", "\\u0061", "é", "x".repeat(257), "a/b~");
    return Arbitraries.oneOf(
        object(names, values),
        object(names, object(names, array(values))),
        plainValues(1).map("{\"a\":1,\"b\":{\"a\":2},\"a\":%s}"::formatted),
        Arbitraries.integers()
            .between(3, 12)
            .map(depth -> "{\"a\":" + "[".repeat(depth) + "]".repeat(depth) + '}'),
        Arbitraries.integers().between(990, 1010).map(size -> '{' + " ".repeat(size - 2) + '}'));
  }

  private static Arbitrary<String> values(Arbitrary<String> texts, Arbitrary<String> numbers) {
    return Arbitraries.oneOf(
        texts, numbers, Arbitraries.of("true", "false", "null", "{}", "[]", "[ ]", "{\n}"));
  }

  private static Arbitrary<String> object(Arbitrary<String> names, Arbitrary<String> values) {
    return Combinators.combine(
            names.list().uniqueElements().ofMaxSize(5), values.list().ofSize(5), BLANKS)
        .as(
            (all, each, blank) -> {
              List<String> members = new ArrayList<>();
              for (int i = 0; i < all.size(); i++) {
                members.add('"' + all.get(i) + '"' + blank + ":" + each.get(i));
              }
              return object(members, blank);
            });
  }

  private static Arbitrary<String> array(Arbitrary<String> values) {
    return Combinators.combine(values.list().ofMaxSize(4), BLANKS)
        .as((all, blank) -> all.stream().collect(joining(blank + "," + blank, "[", "]" + blank)));
  }
}

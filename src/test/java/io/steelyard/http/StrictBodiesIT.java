package io.steelyard.http;

import static org.assertj.core.api.Assertions.as;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.InstanceOfAssertFactories.STRING;

import io.steelyard.json.Json;
import io.steelyard.support.Merchant;
import io.steelyard.support.Tables;
import io.steelyard.support.TestApp;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Every operation with a body refuses what is not one strict JSON text, or not of its shape, names
 * all that is wrong with it, and keeps nothing. The bodies are the documents' own examples, spoilt.
 */
class StrictBodiesIT {
  private static final Pattern FIRST_MEMBER = Pattern.compile("^(\\[?)\\{\"([^\"]+)\":");
  private static final Pattern FIRST_TEXT = Pattern.compile("\"([^\"]+)\":\"");
  private static final int FAR_TOO_DEEP = 100_000;

  private static TestApp app;
  private static Merchant merchant;

  @BeforeAll
  static void start() {
    app = TestApp.start();
    merchant = app.merchant("test", null);
  }

  @AfterAll
  static void stop() {
    app.close();
  }

  static Stream<BodyCase> cases() {
    return BodyCase.all(app, merchant);
  }

  /** Where a text can be replaced by another value. */
  static Stream<BodyCase> casesWithTexts() {
    return cases().filter(each -> FIRST_TEXT.matcher(each.text()).find());
  }

  @ParameterizedTest
  @MethodSource("casesWithTexts")
  void whatIsNotOneJsonTextIsRefusedAsAWhole(BodyCase of) {
    Map<String, Long> before = Tables.counts(app.database());
    String text = of.text();
    for (String empty : List.of("", " \r\n\t ")) {
      assertThat(of.faults(empty)).containsExactly(" empty_body");
    }
    for (String malformed :
        List.of(
            text + " x",
            text + text,
            text + ",",
            text + " // done",
            "/* a */" + text,
            "# a\n" + text,
            text.replace('"', '\''),
            text.substring(0, text.length() - 1),
            text.replaceFirst("([}\\]])$", ",$1"),
            text.replaceFirst(":", ":NaN,"),
            text.replaceFirst(":", ":01,"),
            text.replaceFirst(":\"", ":\"\n"),
            text.replaceFirst(":\"", ":\"\\\\x"),
            "\0" + text,
            text + "\0",
            "undefined",
            "{externalId:1}")) {
      assertThat(of.faults(malformed)).as(malformed).last(as(STRING)).endsWith(" malformed_json");
    }
    assertThat(Tables.counts(app.database())).isEqualTo(before);
  }

  @ParameterizedTest
  @MethodSource("casesWithTexts")
  void whatIsNotStrictUtf8IsRefusedAsAWhole(BodyCase of) {
    Map<String, Long> before = Tables.counts(app.database());
    for (byte[] bytes :
        List.of(
            bytes(0xc0, 0x80),
            bytes(0xed, 0xa0, 0x80),
            bytes(0xf5, 0x80, 0x80, 0x80),
            bytes(0xe2, 0x82),
            bytes(0xff),
            bytes(0x80))) {
      assertThat(of.faults(withFirstText(of.text(), bytes)))
          .as(java.util.Arrays.toString(bytes))
          .containsExactly(" invalid_encoding");
    }
    assertThat(of.faults(("\ufeff" + of.text()).getBytes(StandardCharsets.UTF_8)))
        .containsExactly(" invalid_encoding");
    for (String charset : List.of("UTF-16", "UTF-16LE", "UTF-16BE", "UTF-32")) {
      assertThat(of.faults(of.text().getBytes(Charset.forName(charset))))
          .as(charset)
          .singleElement(as(STRING))
          .matches(".* (invalid_encoding|malformed_json)");
    }
    assertThat(Tables.counts(app.database())).isEqualTo(before);
  }

  private static byte[] bytes(int... values) {
    byte[] bytes = new byte[values.length];
    for (int i = 0; i < values.length; i++) {
      bytes[i] = (byte) values[i];
    }
    return bytes;
  }

  private static byte[] withFirstText(String text, byte[] inserted) {
    String marked = text.replaceFirst(":\"", ":\"@@");
    String latin = new String(inserted, StandardCharsets.ISO_8859_1);
    return marked
        .replaceFirst("@@", Matcher.quoteReplacement(latin))
        .getBytes(StandardCharsets.ISO_8859_1);
  }

  @ParameterizedTest
  @MethodSource("casesWithTexts")
  void valuesThatNoDatabaseHoldsAreRefusedAtTheirPlace(BodyCase of) {
    Map<String, Long> before = Tables.counts(app.database());
    Map<String, String> values = new LinkedHashMap<>();
    values.put("\"a\\u0000\"", "invalid_character");
    values.put("\"\\ud800\"", "invalid_character");
    values.put("\"\\udc00\\ud800\"", "invalid_character");
    values.put("\"" + "a".repeat(8193) + "\"", "max_length");
    String place = pointer(of.text());
    values.forEach(
        (value, code) ->
            assertThat(of.faults(FIRST_TEXT.matcher(of.text()).replaceFirst(first(value))))
                .as(value)
                .contains(place + " " + code));
    for (String number :
        List.of("1e400", "-1e-400", "1e101", "9".repeat(65), "0." + "1".repeat(64))) {
      assertThat(of.faults(FIRST_TEXT.matcher(of.text()).replaceFirst(first(number))))
          .as(number)
          .containsAnyOf(place + " number_range", place + " type");
    }
    assertThat(Tables.counts(app.database())).isEqualTo(before);
  }

  /** The first text's member with another value, and the text itself as a member behind it. */
  private static String first(String value) {
    return "\"$1\":" + Matcher.quoteReplacement(value) + ",\"further\":\"";
  }

  /** Where {@link #FIRST_TEXT} is; it stands in the first object that holds a text. */
  private static String pointer(String text) {
    Object node = tree(text);
    StringBuilder pointer = new StringBuilder();
    while (true) {
      if (node instanceof List<?> list) {
        pointer.append("/0");
        node = list.get(0);
      } else {
        Map.Entry<?, ?> member = ((Map<?, ?>) node).entrySet().iterator().next();
        pointer.append('/').append(member.getKey());
        if (member.getValue() instanceof String) {
          return pointer.toString();
        }
        node = member.getValue();
      }
    }
  }

  private static Object tree(String text) {
    try {
      return Json.MAPPER.readValue(text, Object.class);
    } catch (com.fasterxml.jackson.core.JsonProcessingException e) {
      throw new AssertionError(e);
    }
  }

  @ParameterizedTest
  @MethodSource("cases")
  void aPropertyTwiceIsRefusedAtItsPlace(BodyCase of) {
    Matcher first = FIRST_MEMBER.matcher(of.text());
    assertThat(first.find()).isTrue();
    String twice = first.replaceFirst("$1{\"$2\":null,\"$2\":");

    assertThat(of.faults(twice))
        .contains((first.group(1).isEmpty() ? "/" : "/0/") + first.group(2) + " duplicate_key");
  }

  @ParameterizedTest
  @MethodSource("casesWithTexts")
  void whatIsNestedTooDeepIsRefusedAndCostsNothing(BodyCase of) {
    for (int depth : new int[] {65, 200, FAR_TOO_DEEP}) {
      String nested = "[".repeat(depth) + "]".repeat(depth);
      assertThat(of.faults(nested)).as("%s arrays", depth).isNotEmpty();
      String inside = FIRST_TEXT.matcher(of.text()).replaceFirst(first(nested));
      assertThat(of.faults(inside)).as("%s inside", depth).isNotEmpty();
      assertThat(of.faults("{\"a\":".repeat(depth) + "1" + "}".repeat(depth))).isNotEmpty();
    }
  }

  @ParameterizedTest
  @MethodSource("cases")
  void theWholeBodyIsOfTheRightType(BodyCase of) {
    for (String scalar : List.of("null", "true", "0", "1e400", "\"text\"", "\"\"")) {
      assertThat(of.faults(scalar)).as(scalar).isSubsetOf(" type", " number_range").hasSize(1);
    }
    boolean list = of.body() instanceof List;
    boolean either = of.operation().path().startsWith("/external/event");
    assertThat(of.faults(list || either ? "[]" : "[{}]"))
        .containsExactly(list || either ? " min_items" : " type");
    if (list && !either) {
      assertThat(of.faults("{}")).containsExactly(" type");
      assertThat(of.faults("[null,[],5]")).containsExactly("/0 type", "/1 type", "/2 type");
    }
  }
}

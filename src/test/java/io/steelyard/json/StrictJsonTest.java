package io.steelyard.json;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.bus.Failure.Fault;
import io.steelyard.config.Config;
import io.vertx.core.buffer.Buffer;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

class StrictJsonTest {
  private static final int DEPTH = 64;
  private static final int CHARS = 256;

  private final StrictJson json =
      new StrictJson(
          new Config.Limits(
              8 << 20, 10_000, 1000, 1000, DEPTH, 16_384, CHARS, 65_536, 10_000, 512, 50, 256,
              1 << 27, 50, 0, 0));

  private StrictJson.Result read(String text) {
    return json.read(Buffer.buffer(text));
  }

  /** As {@code pointer code}, in the order found. */
  private static List<String> faults(StrictJson.Result result) {
    return result.faults().stream().map(fault -> fault.pointer() + " " + fault.code()).toList();
  }

  @Test
  void aTreeKeepsEveryValueExactlyAndInOrder() {
    StrictJson.Result result =
        read(" {\"b\": [1, -2.50, true, null, \"\\u00e9😀\"], \"a\": {\"\": {}}} \n");

    assertThat(result.isValid()).isTrue();
    assertThat(result.value().toString()).isEqualTo("{b=[1, -2.50, true, null, é😀], a={={}}}");
  }

  static Stream<Arguments> numbers() {
    return Stream.of(
        Arguments.of("0", 0),
        Arguments.of("-0", 0),
        Arguments.of("0.0", 0),
        Arguments.of("1.0", 1),
        Arguments.of("2E3", 2000),
        Arguments.of("2147483647", Integer.MAX_VALUE),
        Arguments.of("2147483648", 2147483648L),
        Arguments.of("-9223372036854775808", Long.MIN_VALUE),
        Arguments.of("9223372036854775808", new BigInteger("9223372036854775808")),
        Arguments.of("1e100", BigInteger.TEN.pow(100)),
        Arguments.of("0.1", new BigDecimal("0.1")),
        Arguments.of("1e-100", new BigDecimal("1e-100")),
        Arguments.of(
            "0.10000000000000000000000000000000000000001",
            new BigDecimal("0.10000000000000000000000000000000000000001")));
  }

  @ParameterizedTest
  @MethodSource("numbers")
  void numbersAreExactAndWholeOnesAreIntegers(String literal, Number expected) {
    assertThat(read(literal).value()).isEqualTo(expected);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "1e101",
        "1e-101",
        "1E+101",
        "1e99999999999999999999",
        "12345678901234567890123456789012345678901234567890123456789012345",
        "0.1234567890123456789012345678901234567890123456789012345678901234"
      })
  void numbersOfTooManyDigitsOrTooLargeAnExponentAreRefused(String literal) {
    assertThat(faults(read("{\"n\":" + literal + "}"))).containsExactly("/n number_range");
  }

  @Test
  void aNumberOfAMillionDigitsIsRefusedWithoutBeingComputed() {
    assertThat(faults(read("[" + "9".repeat(1_000_000) + "]"))).containsExactly("/0 number_range");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{",
        "[1,",
        "{\"a\"",
        "{\"a\":}",
        "[1,]",
        "{\"a\":1,}",
        "{a:1}",
        "{'a':1}",
        "01",
        "+1",
        ".5",
        "1.",
        "NaN",
        "Infinity",
        "-",
        "tru",
        "\"a",
        "\"\\x\"",
        "\"\\u12\"",
        "\"a\nb\"",
        "\"a\tb\"",
        "[1 2]",
        "// no\n1",
        "/* no */1",
        "1 // no",
        "# no\n1",
        "1 2",
        "{}{}",
        "[]]",
        "{} x",
        "\u00a01"
      })
  void whatIsNotStrictJsonIsRefusedWithOneFault(String text) {
    StrictJson.Result result = read(text);

    assertThat(result.faults()).hasSize(1);
    assertThat(result.faults().getFirst().code()).isEqualTo("malformed_json");
    assertThat(result.faults().getFirst().message())
        .doesNotContainIgnoringCase("jackson")
        .doesNotContain("Exception", "com.", "Source");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{\"a\": [1, {\"b\": x}]}     | /a/1/b",
        "[[1, 2], [3, !]]             | /1/1",
        "{\"a/b\": {\"c~d\": tru }}   | /a~1b/c~0d",
        "{\"a\": 1} x                 | ''",
      })
  void aSyntaxFaultPointsAtThePlaceReached(String text, String pointer) {
    assertThat(faults(read(text))).containsExactly(pointer + " malformed_json");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", " ", "\n\t \r"})
  void anEmptyBodyIsNamedAsSuch(String text) {
    assertThat(faults(read(text))).containsExactly(" empty_body");
    assertThat(faults(json.read(null))).containsExactly(" empty_body");
  }

  @ParameterizedTest
  @CsvSource({
    "22C080 22, an overlong NUL",
    "22C1BF 22, an overlong letter",
    "22E08080 22, an overlong of three bytes",
    "22EDA080 22, an encoded surrogate",
    "22EDA0BDEDB88022, a surrogate pair in CESU-8",
    "22F5808080 22, beyond U+10FFFF",
    "22FF22, no UTF-8 byte",
    "22E9 22, Latin-1",
    "22C3, cut within a character",
    "EFBBBF7B7D, a byte order mark",
    "FEFF007B007D, UTF-16 with a mark",
  })
  void whatIsNotStrictUtf8IsRefused(String hex, String what) {
    byte[] bytes = HexFormat.of().parseHex(hex.replace(" ", ""));

    assertThat(faults(json.read(Buffer.buffer(bytes))))
        .as(what)
        .containsExactly(" invalid_encoding");
  }

  @Test
  void utf16WithoutAMarkIsNotGuessed() {
    byte[] utf16 = "{\"a\":1}".getBytes(StandardCharsets.UTF_16BE);

    assertThat(faults(json.read(Buffer.buffer(utf16)))).containsExactly(" malformed_json");
  }

  @Test
  void aRepeatedNameIsNamedWhereItStands() {
    assertThat(faults(read("{\"a\":1,\"b\":[{\"c\":1,\"\\u0063\":2}],\"a\":2}")))
        .containsExactly("/b/0/c duplicate_key", "/a duplicate_key");
    assertThat(faults(read("[{\"a\":1},{\"a\":2}]"))).isEmpty();
  }

  @Test
  void charactersThatCannotBeStoredAreNamedAndNotEchoed() {
    StrictJson.Result result =
        read(
            """
            {"a": "x\\u0000y", "b": ["\\ud800", "\\udc00\\ud800", "\\ud83d\\ude00"],
             "c\\u0000": 1}""");

    assertThat(faults(result))
        .containsExactly(
            "/a invalid_character",
            "/b/0 invalid_character",
            "/b/1 invalid_character",
            "/c\uFFFD invalid_character");
    for (Fault fault : result.faults()) {
      assertThat(Text.isClean(fault.pointer())).isTrue();
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"\\udfff", "\\ud800", "x\\ud800y", "\\ud800\\ud800"})
  void aNameWithHalfASurrogatePairIsNamedByItsObject(String name) {
    assertThat(faults(read("{\"a\":[{\"b\":1,\"" + name + "\":2}]}")))
        .containsExactly("/a/0 invalid_character");
  }

  @Test
  void lengthIsCountedInCharactersNotInCodeUnits() {
    assertThat(faults(read("\"" + "😀".repeat(CHARS) + "\""))).isEmpty();
    assertThat(faults(read("{\"t\":\"" + "😀".repeat(CHARS + 1) + "\"}")))
        .containsExactly("/t max_length");
  }

  @Test
  void aNameOverTheLimitIsNotEchoedWhole() {
    StrictJson.Result result = read("{\"" + "k".repeat(1_000_000) + "\":1}");

    assertThat(result.faults()).hasSize(1);
    assertThat(result.faults().getFirst().code()).isEqualTo("max_length");
    assertThat(result.faults().getFirst().pointer()).hasSizeLessThan(200).startsWith("/kkk");
  }

  @Test
  void theDeepestLevelAllowedIsReadAndTheNextIsNamed() {
    assertThat(faults(read("[".repeat(DEPTH) + "]".repeat(DEPTH)))).isEmpty();
    assertThat(faults(read("[".repeat(DEPTH + 1) + "]".repeat(DEPTH + 1))))
        .containsExactly("/0".repeat(DEPTH) + " too_deep");
  }

  @Test
  void readingGoesOnAfterWhatIsTooDeep() {
    String deep = "[".repeat(DEPTH + 5) + "]".repeat(DEPTH + 5);

    assertThat(faults(read("{\"a\":" + deep + ",\"b\":1e999}")))
        .containsExactly("/a" + "/0".repeat(DEPTH - 1) + " too_deep", "/b number_range");
  }

  @ParameterizedTest
  @ValueSource(strings = {"[", "{\"a\":", "[{\"a\":"})
  void noDepthOverflowsTheStack(String opening) {
    List<Fault> faults = read(opening.repeat(1_000_000)).faults();

    assertThat(faults).hasSize(1);
    assertThat(faults.getFirst().code()).isEqualTo("too_deep");
  }

  @Test
  void everyFaultOfABodyIsNamed() {
    String text =
        """
        [{"a": 1, "a": 2}, "%s", 1e999, {"n": {"m": "\\u0000"}}, [[1e101]], !"""
            .formatted("x".repeat(CHARS + 1));

    assertThat(faults(read(text)))
        .containsExactly(
            "/0/a duplicate_key",
            "/1 max_length",
            "/2 number_range",
            "/3/n/m invalid_character",
            "/4/0/0 number_range",
            "/5 malformed_json");
  }

  @Test
  void aBodyOfFaultsOnlyIsCutOff() {
    String text = "[" + "1e999,".repeat(50_000) + "1]";

    assertThat(read(text).faults()).hasSize(StrictJson.FAULTS_MAX);
  }

  @Test
  void aBodyOfMoreValuesThanAnyRequestNeedsIsRefused() {
    Integer[] most = new Integer[99_999];
    Arrays.fill(most, 7);

    assertThat(faults(read(Arrays.toString(most)))).isEmpty();
    assertThat(faults(read("[" + "7,".repeat(1_000_000) + "7]")))
        .containsExactly(" too_many_values");
  }

  @Test
  void namesChosenToCollideAreReadLikeAnyOthers() {
    StringBuilder text = new StringBuilder("{");
    for (int i = 0; i < 1 << 13; i++) {
      String name = Integer.toBinaryString(i + (1 << 13)).replace("0", "Aa").replace("1", "BB");
      text.append(i == 0 ? "" : ",").append('"').append(name).append("\":").append(i);
    }

    StrictJson.Result result = read(text.append('}').toString());

    assertThat(result.isValid()).isTrue();
    assertThat((Map<?, ?>) result.value()).hasSize(1 << 13);
  }
}

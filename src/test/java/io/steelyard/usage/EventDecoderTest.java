package io.steelyard.usage;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.bus.Failure;
import io.steelyard.config.Config;
import io.steelyard.domain.Id;
import io.steelyard.domain.IdKind;
import io.vertx.core.buffer.Buffer;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class EventDecoderTest {
  private static final String EVENT =
      "{'customerId':'c','eventName':'n','generatedAt':'2026-01-01T00:00:00Z'}";
  private static final int STRING_CHARS = 256;
  private static final int DATA_BYTES = 1000;

  private final EventDecoder decoder =
      new EventDecoder(
          new Config.Limits(
              1 << 20, 10, 1, 1, 8, 1024, STRING_CHARS, DATA_BYTES, 1, 1, 1, 1, 2048, 1, 0, 0));

  @Test
  void readsOneEventWithEveryProperty() {
    UUID key = UUID.randomUUID();
    Id customer = new Id(IdKind.CUSTOMER, UUID.randomUUID());

    UsageEvent event =
        one(
            "{'userId':'u','data': {'n' : 1.50, 'ü':['é\\n']} ,'customerId':'"
                + customer
                + "','idempotencyKey':'"
                + key.toString().toUpperCase(java.util.Locale.ROOT)
                + "','eventName':'api.request','generatedAt':'2026-01-01T02:00:00.1239+02:00'}");

    assertThat(event.key()).isEqualTo(key);
    assertThat(event.customerId()).isEqualTo(customer.uuid());
    assertThat(event.customerRef()).isNull();
    assertThat(event.eventName()).isEqualTo("api.request");
    assertThat(event.generatedAt()).isEqualTo(Instant.parse("2026-01-01T00:00:00.123Z"));
    assertThat(event.userId()).isEqualTo("u");
    assertThat(event.data()).isEqualTo(json("{'n' : 1.50, 'ü':['é\\n']}"));
  }

  @Test
  void keepsACustomerReferenceThatIsNoCustomerId() {
    UsageEvent event = one(EVENT);

    assertThat(event.customerId()).isNull();
    assertThat(event.customerRef()).isEqualTo("c");
    assertThat(event.data()).isNull();
    assertThat(event.userId()).isNull();
  }

  @Test
  void readsABatchInItsOrder() {
    assertThat(events("[" + EVENT.replace("'n'", "'a'") + " , " + EVENT + "]"))
        .extracting(UsageEvent::eventName)
        .containsExactly("a", "n");
  }

  @Test
  void namesEveryFaultWithItsPointer() {
    String body =
        "["
            + EVENT
            + ",{'customerId':'','eventNam':'x','generatedAt':5,'data':[],'userId':null},7,"
            + "{'customerId':'c','customerId':'d','eventName':'n','generatedAt':'yesterday',"
            + "'idempotencyKey':''}]";

    assertThat(faults(body))
        .containsExactlyInAnyOrder(
            "/1/customerId min_length",
            "/1/eventNam unknown_property",
            "/1/eventName required",
            "/1/generatedAt type",
            "/1/data type",
            "/1/userId type",
            "/2 type",
            "/3/customerId duplicate_key",
            "/3/generatedAt format",
            "/3/idempotencyKey min_length");
  }

  @Test
  void pointsIntoASingleObjectWithoutAnIndex() {
    assertThat(faults("{'a/b~':1}"))
        .containsExactlyInAnyOrder(
            "/a~1b~0 unknown_property",
            "/customerId required",
            "/eventName required",
            "/generatedAt required");
  }

  @ParameterizedTest
  @ValueSource(strings = {"5", "'text'", "null", "true"})
  void refusesAnythingButObjectsAndArrays(String body) {
    assertThat(faults(body)).containsExactly(" type");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "{",
        "[",
        "[1,]",
        "{'customerId':'c',}",
        "{'customerId' 'c'}",
        "{customerId:'c'}",
        "[NaN]",
        "[01]",
        "[+1]",
        "[.5]",
        "[1.]",
        "[1e]",
        "[0x1]",
        "[tru]",
        "['\u0001']",
        "['\\x']",
        "['\\u12']",
        "['tab\there']",
        "[1] // done",
        "/* */ [1]",
        "[] []",
        "{}x",
        "[1]]",
        "\u0000",
      })
  void refusesWhatIsNotStrictJsonWithOneFault(String body) {
    assertThat(faults(body)).containsExactly(" malformed_json");
  }

  @Test
  void saysWhereTheJsonBreaksAndNothingOfTheInside() {
    Failure.Fault fault = refusal(bytes("{\n  'a' 1}")).get(0);

    assertThat(fault.message()).isEqualTo("Malformed JSON at line 2, column 7.");
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "  \r\n\t "})
  void refusesAnEmptyBody(String body) {
    assertThat(faults(body)).containsExactly(" empty_body");
  }

  @ParameterizedTest
  @CsvSource({
    "EF BB BF 7B 7D, a byte order mark",
    "22 C0 80 22, an overlong NUL",
    "22 C1 BF 22, an overlong character",
    "22 E0 80 80 22, an overlong character of three",
    "22 F0 80 80 80 22, an overlong character of four",
    "22 ED A0 80 22, a surrogate",
    "22 F4 90 80 80 22, above the last character",
    "22 F5 80 80 80 22, no lead byte",
    "22 80 22, a lone continuation",
    "22 C3 22, a cut character",
    "22 E2 82, a character cut by the end",
    "FF FE 7B 00 7D 00, UTF-16",
  })
  void refusesWhatIsNotStrictUtf8(String hex, String what) {
    byte[] body = new byte[hex.split(" ").length];
    for (int i = 0; i < body.length; i++) {
      body[i] = (byte) Integer.parseInt(hex.split(" ")[i], 16);
    }

    assertThat(codes(refusal(body))).as(what).containsExactly(" invalid_encoding");
  }

  @Test
  void doesNotGuessUtf16FromItsZeros() {
    byte[] utf16 = json("[" + EVENT + "]").getBytes(StandardCharsets.UTF_16LE);

    assertThat(codes(refusal(utf16))).containsExactly(" malformed_json");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{'a':1,'a':1} | /data/a duplicate_key",
        "{'a':1,'b':2,'\\u0061':1} | /data/a duplicate_key",
        "{'x':[{'k':1,'l':1,'k':2}]} | /data/x/0/k duplicate_key",
        "{'a/b':{'q~':1,'q~':2}} | /data/a~1b/q~0 duplicate_key",
        "{'a':'\\u0000'} | /data/a invalid_character",
        "{'a':['x','\\ud800']} | /data/a/1 invalid_character",
        "{'a':'\\udc00\\ud800'} | /data/a invalid_character",
        "{'\\ud800x':1} | malformed_json",
        "{'in':{'\\u0000':1}} | /data/in invalid_character",
        "{'a':1e101} | /data/a number_range",
        "{'a':1E-101} | /data/a number_range",
        "{'a':1e99999999999999999999} | /data/a number_range",
        "{'a':[{},[0.00000000000000000000000000000000000000000000000000000000000000001]]}"
            + " | /data/a/1/0 number_range",
        "5 | /data type",
        "null | /data type",
        "\"{}\" | /data type",
      })
  void refusesInsideDataWithTheInnerPointer(String data, String fault) {
    assertThat(faults(withData(data))).extracting(String::strip).containsExactly(fault);
  }

  @Test
  void boundsDepthAndStops() {
    assertThat(events(withData("{'a':".repeat(7) + "1" + "}".repeat(7)))).hasSize(1);
    assertThat(faults(withData("{'a':".repeat(8) + "1" + "}".repeat(8))))
        .singleElement()
        .asString()
        .endsWith(" too_deep");
    assertThat(faults("[".repeat(500_000)).getLast()).endsWith(" too_deep");
  }

  @Test
  void boundsStringsNamesNumbersAndData() {
    String longest = "x".repeat(STRING_CHARS);

    assertThat(events(withData("{'" + longest + "':'" + longest + "'}"))).hasSize(1);
    assertThat(faults(withData("{'a':'" + longest + "x'}"))).containsExactly("/data/a max_length");
    assertThat(faults(withData("{'x" + longest + "':1}"))).containsExactly("/data max_length");
    assertThat(faults(EVENT.replace("'n'", "'" + longest + "x'")))
        .containsExactly("/eventName max_length");
    assertThat(events(withData("{'a':-" + "9".repeat(64) + "e-100}"))).hasSize(1);
    assertThat(faults(withData("{'a':" + "9".repeat(65) + "}")))
        .containsExactly("/data/a number_range");
    assertThat(events(withData("{" + " ".repeat(DATA_BYTES - 2) + "}"))).hasSize(1);
    assertThat(faults(withData("{" + " ".repeat(DATA_BYTES - 1) + "}")))
        .containsExactly("/data max_bytes");
  }

  @Test
  void boundsTheNumberOfEventsAndOfFaults() {
    assertThat(events("[" + repeated(EVENT, 10) + "]")).hasSize(10);
    assertThat(faults("[" + repeated(EVENT, 11) + "]")).containsExactly(" max_items");
    assertThat(faults("[" + repeated(EVENT, 11) + "}")).containsExactly(" malformed_json");
    assertThat(faults("[]")).containsExactly(" min_items");
    String many =
        IntStream.range(0, 2000).mapToObj(i -> "'p" + i + "':1").collect(Collectors.joining(","));
    assertThat(faults("{" + many + "}")).hasSize(1000);
  }

  @ParameterizedTest
  @CsvSource({
    "2000-01-01T00:00:00Z, ''",
    "1999-12-31T23:59:59.999Z, range",
    "2099-12-31T23:59:59.999999Z, ''",
    "2100-01-01T00:00:00Z, range",
    "2100-01-01T00:00:00+00:01, ''",
    "2026-01-01, format",
    "2026-01-01T00:00:00, format",
    "2026-01-01T00:00:60Z, format",
  })
  void boundsGeneratedAt(String timestamp, String code) {
    Decoded decoded = decode(bytes(EVENT.replace("2026-01-01T00:00:00Z", timestamp)));

    if (code.isEmpty()) {
      assertThat(decoded).isInstanceOf(Decoded.Events.class);
    } else {
      assertThat(codes(((Decoded.Faults) decoded).failure().faults()))
          .containsExactly("/generatedAt " + code);
    }
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{'a':1,'b':[1,2]} | {'b':[1,2],'a':1}",
        "{'a':1} | { 'a' : 1.0 }",
        "{'a':100} | {'a':1e2}",
        "{'a':100} | {'a':1.00E+2}",
        "{'a':0} | {'a':-0.00}",
        "{'a':12345678901234567890} | {'a':1234567890123456789e1}",
        "{'a':'é'} | {'a':'\\u00e9'}",
        "{'a':'/'} | {'a':'\\/'}",
        "{'x':{'p':[{'m':1,'n':2}],'q':null}} | {'x':{'q':null,'p':[{'n':2,'m':1}]}}",
        "{'aa':1,'b':2,'c':3} | {'c':3,'aa':1,'b':2}",
      })
  void theSamePayloadWrittenDifferentlyHasTheSameKeyAndHash(String a, String b) {
    UsageEvent first = one(withData(a));
    UsageEvent second = one(withData(b));

    assertThat(second.key()).isEqualTo(first.key());
    assertThat(second.payloadHash()).isEqualTo(first.payloadHash());
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{'a':1} | {'a':2}",
        "{'a':1} | {'a':-1}",
        "{'a':1} | {'a':10}",
        "{'a':1} | {'a':'1'}",
        "{'a':true} | {'a':'true'}",
        "{'a':null} | {}",
        "{'a':[]} | {'a':{}}",
        "{'a':[[1],2]} | {'a':[[1,2]]}",
        "{'a':[1,2]} | {'a':[2,1]}",
        "{'a':'b','c':'d'} | {'a':'d','c':'b'}",
        "{'ab':'c'} | {'a':'bc'}",
        "{'a':{'b':1},'c':1} | {'a':{'b':1,'c':1}}",
      })
  void anotherPayloadHasAnotherKeyAndHash(String a, String b) {
    UsageEvent first = one(withData(a));
    UsageEvent second = one(withData(b));

    assertThat(second.key()).isNotEqualTo(first.key());
    assertThat(second.payloadHash()).isNotEqualTo(first.payloadHash());
  }

  @Test
  void everyPropertyIsPartOfThePayload() {
    List<String> variants =
        List.of(
            EVENT,
            EVENT.replace("'c'", "'d'"),
            EVENT.replace("'n'", "'m'"),
            EVENT.replace("00Z", "01Z"),
            EVENT.replace("00Z", "00.0001Z"),
            EVENT.replace("00Z", "00.00000000001Z"),
            withData("{}"),
            EVENT.replace("}", ",'userId':'u'}"),
            EVENT.replace("'c','eventName':'n'", "'cn','eventName':'x'"));

    assertThat(variants.stream().map(this::one).map(UsageEvent::key)).doesNotHaveDuplicates();
    assertThat(variants.stream().map(this::one).map(UsageEvent::payloadHash))
        .doesNotHaveDuplicates();
  }

  @Test
  void theSameInstantInAnotherOffsetOrPrecisionIsTheSamePayload() {
    UsageEvent event = one(EVENT);

    assertThat(one(EVENT.replace("00:00:00Z", "05:30:00.000+05:30")).key()).isEqualTo(event.key());
    assertThat(one(EVENT.replace("00Z", "00.0Z")).payloadHash()).isEqualTo(event.payloadHash());
  }

  @Test
  void aGivenKeyIsNeverTheKeyOfAPayloadAndDecidesAlone() {
    String withKey = EVENT.replace("}", ",'idempotencyKey':'order-1'}");
    UsageEvent event = one(withKey);

    assertThat(event.key()).isNotEqualTo(one(EVENT).key());
    assertThat(event.payloadHash()).isEqualTo(one(EVENT).payloadHash());
    assertThat(one(withKey.replace("'n'", "'m'")).key()).isEqualTo(event.key());
    assertThat(one(withKey.replace("order-1", "order-2")).key()).isNotEqualTo(event.key());
  }

  @Test
  void onlyTheCanonicalFormOfAUuidIsTakenAsOne() {
    String uuid = "0190b9a0-7f3e-7c3a-8000-0123456789ab";

    assertThat(keyed(uuid)).isEqualTo(UUID.fromString(uuid));
    assertThat(keyed(uuid.replace("-", ""))).isNotEqualTo(UUID.fromString(uuid));
    assertThat(keyed("{" + uuid + "}")).isNotEqualTo(UUID.fromString(uuid));
    assertThat(keyed("0190b9a0-7f3e-7c3a-8000-0123456789ag")).isNotEqualTo(keyed(uuid));
  }

  @Test
  void readsDataBehindCharactersOfSeveralBytes() {
    List<UsageEvent> events =
        events("[" + EVENT.replace("'n'", "'€😀'") + "," + withData("{'é':'€😀'}") + "]");

    assertThat(events.get(1).data()).isEqualTo(json("{'é':'€😀'}"));
  }

  private UUID keyed(String key) {
    return one(EVENT.replace("}", ",'idempotencyKey':'" + key + "'}")).key();
  }

  private static String withData(String data) {
    return EVENT.substring(0, EVENT.length() - 1) + ",'data':" + data + "}";
  }

  private static String repeated(String event, int times) {
    return String.join(",", java.util.Collections.nCopies(times, event));
  }

  private UsageEvent one(String body) {
    assertThat(events(body)).hasSize(1);
    return events(body).get(0);
  }

  private List<UsageEvent> events(String body) {
    Decoded decoded = decode(bytes(body));
    assertThat(decoded).isInstanceOf(Decoded.Events.class);
    return UsageEvent.decoded(((Decoded.Events) decoded).events());
  }

  private List<String> faults(String body) {
    return codes(refusal(bytes(body)));
  }

  private static List<String> codes(List<Failure.Fault> faults) {
    return faults.stream().map(fault -> fault.pointer() + " " + fault.code()).toList();
  }

  private List<Failure.Fault> refusal(byte[] body) {
    Decoded decoded = decode(body);
    assertThat(decoded).isInstanceOf(Decoded.Faults.class);
    return ((Decoded.Faults) decoded).failure().faults();
  }

  private Decoded decode(byte[] body) {
    return decoder.decode(Buffer.buffer(body));
  }

  private static byte[] bytes(String body) {
    return json(body).getBytes(StandardCharsets.UTF_8);
  }

  /** Bodies are written with single quotes here. */
  private static String json(String text) {
    return text.replace('\'', '"');
  }
}

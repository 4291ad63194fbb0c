package io.steelyard.usage;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.bus.Failure.Fault;
import io.steelyard.config.Config;
import io.steelyard.json.Schemas;
import io.steelyard.json.StrictJson;
import io.steelyard.json.Validator;
import io.steelyard.support.TestConfig;
import io.vertx.core.buffer.Buffer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;

/**
 * The decoder of events and the documented schema are two descriptions of one body. Here both read
 * a table of bodies made from every member with every value, and have to agree.
 */
class EventContractIT {
  /** What the schema has no words for, and only the decoder (or the reader of JSON) bounds. */
  private static final Set<String> BOUNDS_OF_THE_DECODER = Set.of("max_bytes", "max_items");

  private static final Config CONFIG = TestConfig.with(Map.of("operator.token", "t".repeat(32)));

  private final EventDecoder decoder = new EventDecoder(CONFIG.limits());
  private final StrictJson json = new StrictJson(CONFIG.limits());
  private final Validator schemas = Schemas.external().validator();

  private static final List<String> TEXTS =
      List.of(
          "''",
          "'c'",
          "' '",
          "'%s'".formatted("é".repeat(300)),
          "'%s'".formatted("x".repeat(8192)),
          "'%s'".formatted("x".repeat(8193)),
          "'\\u0000'",
          "'\\ud800'",
          "'\\ud83d\\ude00'",
          "'\\n'",
          "null",
          "5",
          "1.5",
          "1e400",
          "true",
          "{}",
          "[]",
          "['c']");

  private static final List<String> TIMES =
      List.of(
          "'2026-01-01T00:00:00Z'",
          "'2026-01-01T00:00:00.1Z'",
          "'2026-01-01T00:00:00.123456789Z'",
          "'2026-01-01t00:00:00z'",
          "'2026-01-01T00:00:00+05:30'",
          "'2026-01-01T00:00:00-18:00'",
          "'2026-01-01T00:00:00+18:01'",
          "'2026-01-01T00:00:00'",
          "'2026-01-01T00:00Z'",
          "'2026-01-01'",
          "'2026-01-01 00:00:00Z'",
          "'2026-02-29T00:00:00Z'",
          "'2024-02-29T00:00:00Z'",
          "'2026-13-01T00:00:00Z'",
          "'2026-01-01T24:00:00Z'",
          "'2026-01-01T23:59:60Z'",
          "'2026-01-01T00:00:00.Z'",
          "'2026-01-01T00:00:00+0530'",
          "'2026-01-01T00:00:00Z '",
          "' 2026-01-01T00:00:00Z'",
          "'2000-01-01T00:00:00Z'",
          "'1999-12-31T23:59:59.999Z'",
          "'2000-01-01T00:00:00+00:01'",
          "'2099-12-31T23:59:59.999Z'",
          "'2100-01-01T00:00:00Z'",
          "'2100-01-01T00:00:00+01:00'",
          "'+2026-01-01T00:00:00Z'",
          "'20260101T000000Z'",
          "'now'",
          "1767225600000");

  private static final List<String> DATA =
      List.of(
          "{}",
          "{'a':null}",
          "{'a':{'b':[1,{'c':'d'}]}}",
          "{'':0}",
          "{'misspelt':{'customerId':1}}",
          "{'n':%s}".formatted("9".repeat(64)),
          "{'n':%s}".formatted("9".repeat(65)),
          "{'n':1e100}",
          "{'n':1e101}",
          "{'n':-1e-400}",
          "{'n':0.%s}".formatted("1".repeat(64)),
          "{'a':[0,{'n':1e999}]}",
          "{'a':1,'a':2}",
          "{'o':{'a':1,'b':0,'a':1}}",
          "{'a':'\\u0000'}",
          "{'\\u0000':1}",
          "{'a':['\\udc00']}",
          "{'a':'%s'}".formatted("x".repeat(8193)),
          "{'%s':1}".formatted("x".repeat(8193)),
          "{'a/b~c':1e400}",
          "{'a':%s}".formatted("[".repeat(61) + "]".repeat(61)),
          "{'a':%s}".formatted("[".repeat(80) + "]".repeat(80)),
          "[]",
          "[{}]",
          "'text'",
          "5",
          "true",
          "null");

  private static Map<String, List<String>> values() {
    Map<String, List<String>> values = new LinkedHashMap<>();
    values.put("customerId", TEXTS);
    values.put("eventName", TEXTS);
    values.put("generatedAt", concat(TIMES, TEXTS));
    values.put("data", DATA);
    values.put("idempotencyKey", TEXTS);
    values.put("userId", TEXTS);
    values.put("externalId", TEXTS);
    values.put("CustomerId", List.of("'c'"));
    values.put("a/b~c", List.of("1", "{}"));
    return values;
  }

  private static List<String> concat(List<String> a, List<String> b) {
    List<String> both = new ArrayList<>(a);
    both.addAll(b);
    return both;
  }

  private static Map<String, String> good() {
    Map<String, String> good = new LinkedHashMap<>();
    good.put("customerId", "'c'");
    good.put("eventName", "'n'");
    good.put("generatedAt", "'2026-01-01T00:00:00Z'");
    return good;
  }

  private static String written(Map<String, String> members) {
    StringBuilder text = new StringBuilder("{");
    members.forEach((name, value) -> text.append("'%s':%s,".formatted(name, value)));
    if (text.length() > 1) {
      text.setLength(text.length() - 1);
    }
    return text.append('}').toString();
  }

  /** Every value of every member, every member left out or given twice, and pairs of faults. */
  private static Set<String> events() {
    Set<String> events = new LinkedHashSet<>();
    values()
        .forEach(
            (name, values) -> {
              for (String value : values) {
                Map<String, String> one = good();
                one.put(name, value);
                events.add(written(one));
                one.put("userId", "7");
                events.add(written(one));
                one.remove("eventName");
                events.add(written(one));
              }
              Map<String, String> without = good();
              without.remove(name);
              events.add(written(without));
              String first = values.get(0);
              events.add(written(good()).replaceFirst("\\{", "{'" + name + "':" + first + ","));
            });
    events.addAll(List.of("{}", "null", "5", "'text'", "true", "1e400"));
    return events;
  }

  private static Set<String> bodies() {
    Set<String> bodies = new LinkedHashSet<>();
    String good = written(good());
    for (String event : events()) {
      bodies.add(event);
      bodies.add("[" + good + "," + event + "]");
    }
    bodies.addAll(
        List.of(
            "",
            " ",
            "[]",
            "[[]]",
            "[[" + good + "]]",
            "[" + good + ",]",
            good + good,
            good + " x",
            "{'customerId':'c'",
            "[" + good,
            "[null,{},7]",
            "[ " + good + " , " + good + " ] "));
    return bodies;
  }

  private List<Fault> ofSchema(Buffer body) {
    StrictJson.Result read = json.read(body);
    return read.isValid() ? schemas.check("EventBody", read.value()) : read.faults();
  }

  private List<Fault> ofDecoder(Buffer body) {
    return switch (decoder.decode(body)) {
      case Decoded.Events events -> List.of();
      case Decoded.Faults faults -> faults.failure().faults();
    };
  }

  private static Set<String> pointers(List<Fault> faults) {
    Set<String> pointers = new TreeSet<>();
    faults.forEach(fault -> pointers.add(fault.pointer()));
    return pointers;
  }

  /** Of syntax and encoding one reader tells the place too; deep values are not read on. */
  private static boolean isReadToItsEnd(List<Fault> faults) {
    return faults.stream()
        .noneMatch(fault -> Set.of("malformed_json", "too_deep").contains(fault.code()));
  }

  /** A name that is nothing to repeat the decoder leaves out: it names the object around it. */
  private static boolean isNamed(Fault fault, Set<String> places) {
    boolean ofText = Set.of("invalid_character", "max_length").contains(fault.code());
    String parent = fault.pointer().replaceFirst("/[^/]*$", "");
    return places.contains(fault.pointer()) || (ofText && places.contains(parent));
  }

  @Test
  void bothAcceptTheSameBodies() {
    Set<String> bodies = bodies();
    List<String> apart = new ArrayList<>();
    for (String body : bodies) {
      Buffer bytes = Buffer.buffer(body.replace('\'', '"'));
      List<Fault> decoder = ofDecoder(bytes);
      List<Fault> schema = ofSchema(bytes);
      if (decoder.isEmpty() != schema.isEmpty()) {
        apart.add(shortened(body) + " decoder " + decoder + " schema " + schema);
      }
    }
    assertThat(bodies).hasSizeGreaterThan(500);
    assertThat(apart).isEmpty();
  }

  @Test
  void bothNameTheSamePlaces() {
    List<String> apart = new ArrayList<>();
    int compared = 0;
    for (String body : bodies()) {
      Buffer bytes = Buffer.buffer(body.replace('\'', '"'));
      List<Fault> decoder = ofDecoder(bytes);
      List<Fault> lexical = json.read(bytes).faults();
      if (!isReadToItsEnd(decoder) || !isReadToItsEnd(lexical)) {
        continue;
      }
      compared++;
      Set<String> places = pointers(decoder);
      // A tree with such faults is not held against the schema: the decoder names more at once.
      boolean same =
          lexical.isEmpty()
              ? places.equals(pointers(ofSchema(bytes)))
              : lexical.stream().allMatch(fault -> isNamed(fault, places));
      if (!same) {
        apart.add(shortened(body) + " decoder " + decoder + " schema " + ofSchema(bytes));
      }
    }
    assertThat(compared).isGreaterThan(400);
    assertThat(apart).isEmpty();
  }

  @Test
  void bothCallAFaultTheSame() {
    List<String> apart = new ArrayList<>();
    for (String body : bodies()) {
      Buffer bytes = Buffer.buffer(body.replace('\'', '"'));
      List<Fault> decoder = ofDecoder(bytes);
      List<Fault> schema = ofSchema(bytes);
      if (decoder.size() == 1 && schema.size() == 1 && json.read(bytes).isValid()) {
        Fault fault = decoder.get(0);
        // The schema's format spans emptiness and range; the decoder tells these apart.
        boolean timestamp = fault.pointer().endsWith("/generatedAt");
        String expected =
            timestamp && Set.of("range", "min_length").contains(fault.code())
                ? "format"
                : fault.code();
        if (!schema.get(0).code().equals(expected)) {
          apart.add(shortened(body) + " decoder " + decoder + " schema " + schema);
        }
      }
    }
    assertThat(apart).isEmpty();
  }

  @Test
  void onlyTheDecoderBoundsTheBytesOfDataAndTheConfiguredNumberOfEvents() {
    String padding = ("'" + "x".repeat(8000) + "',").repeat(9);
    Map<String, String> large = good();
    large.put("data", "{'a':[" + padding + "0]}");
    Buffer bytes = Buffer.buffer(written(large).replace('\'', '"'));
    Buffer many =
        Buffer.buffer(
            ("[" + (written(good()) + ",").repeat(10_000) + written(good()) + "]")
                .replace('\'', '"'));

    assertThat(ofSchema(bytes)).isEmpty();
    assertThat(ofDecoder(bytes))
        .singleElement()
        .satisfies(
            fault -> {
              assertThat(fault.pointer()).isEqualTo("/data");
              assertThat(BOUNDS_OF_THE_DECODER).contains(fault.code());
            });
    assertThat(ofDecoder(many))
        .singleElement()
        .satisfies(fault -> assertThat(BOUNDS_OF_THE_DECODER).contains(fault.code()));
  }

  private static String shortened(String body) {
    return body.length() < 300 ? body : body.substring(0, 300) + "…";
  }
}

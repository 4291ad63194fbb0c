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
    Set<String> bodies = EventBodies.all();
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
    for (String body : EventBodies.all()) {
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
    for (String body : EventBodies.all()) {
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
    Map<String, String> large = EventBodies.good();
    large.put("data", "{'a':[" + padding + "0]}");
    Buffer bytes = Buffer.buffer(EventBodies.written(large).replace('\'', '"'));
    Buffer many =
        Buffer.buffer(
            ("["
                    + (EventBodies.written(EventBodies.good()) + ",").repeat(10_000)
                    + EventBodies.written(EventBodies.good())
                    + "]")
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

package io.steelyard.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.json.Json;
import io.steelyard.support.Merchant;
import io.steelyard.support.Tables;
import io.steelyard.support.TestApp;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import java.util.function.BiFunction;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The documents' own examples with every place spoilt at once: every place has to be named. */
class BodyShapesIT {
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

  static Stream<BodyCase> casesWithTexts() {
    return cases().filter(each -> each.text().contains("\":\""));
  }

  /** A copy with each node below an event's {@code data} kept and every other one changed. */
  private static Object changed(
      Object node, String pointer, BiFunction<Object, String, Object> change) {
    Object copy = node;
    if (node instanceof List<?> list) {
      List<Object> items = new ArrayList<>();
      for (int i = 0; i < list.size(); i++) {
        items.add(changed(list.get(i), pointer + "/" + i, change));
      }
      copy = items;
    } else if (node instanceof Map<?, ?> object) {
      Map<Object, Object> members = new LinkedHashMap<>();
      object.forEach(
          (name, value) ->
              members.put(
                  name,
                  name.equals("data") ? value : changed(value, pointer + "/" + name, change)));
      copy = members;
    }
    return change.apply(copy, pointer);
  }

  private static void assertNamed(
      BodyCase of, BiFunction<Object, TreeSet<String>, BiFunction<Object, String, Object>> how) {
    TreeSet<String> expected = new TreeSet<>();
    Object spoilt = changed(of.body(), "", how.apply(of.body(), expected));
    Map<String, Long> before = Tables.counts(app.database());

    if (!expected.isEmpty()) {
      assertThat(of.faults(Json.encodeText(spoilt))).containsAll(expected);
    }
    assertThat(Tables.counts(app.database())).isEqualTo(before);
  }

  @ParameterizedTest
  @MethodSource("cases")
  void anUnknownPropertyIsNamedAtEveryLevel(BodyCase of) {
    assertNamed(
        of,
        (body, expected) ->
            (node, pointer) -> {
              if (node instanceof Map<?, ?> object) {
                Map<Object, Object> more = new LinkedHashMap<>(object);
                more.put("misspelt", 1);
                expected.add(pointer + "/misspelt unknown_property");
                return more;
              }
              return node;
            });
  }

  /** What decides on the form of its neighbours is spoilt apart from them. */
  @ParameterizedTest
  @MethodSource("cases")
  void aValueOfAnotherTypeIsNamedWhereverItIs(BodyCase of) {
    for (boolean deciding : new boolean[] {true, false}) {
      assertNamed(
          of,
          (body, expected) ->
              (node, pointer) -> {
                if (node instanceof Map
                    || node instanceof List
                    || node == null
                    || pointer.matches(".*/(priceType|kind)") != deciding) {
                  return node;
                }
                expected.add(pointer + " type");
                return Map.of();
              });
    }
  }

  @ParameterizedTest
  @MethodSource("cases")
  void anObjectForAnArrayAndTheOtherWayRoundAreNamed(BodyCase of) {
    assertNamed(
        of,
        (body, expected) ->
            (node, pointer) -> {
              boolean innermost = pointer.chars().filter(c -> c == '/').count() == 1;
              if (!innermost || !(node instanceof Map || node instanceof List)) {
                return node;
              }
              expected.add(pointer + " type");
              return node instanceof Map ? List.of() : Map.of();
            });
  }

  @ParameterizedTest
  @MethodSource("casesWithTexts")
  void anEmptyTextIsNamedWhereverItIs(BodyCase of) {
    TreeSet<String> places = new TreeSet<>();
    Object spoilt =
        changed(
            of.body(),
            "",
            (node, pointer) -> {
              if (node instanceof String
                  && !pointer.matches(".*/(description|value(/\\d+)?|\\w+Label)")) {
                places.add(pointer);
                return "";
              }
              return node;
            });
    TreeSet<String> named = new TreeSet<>();
    of.faults(Json.encodeText(spoilt)).forEach(fault -> named.add(fault.split(" ", 2)[0]));

    assertThat(named).containsAll(places);
  }
}

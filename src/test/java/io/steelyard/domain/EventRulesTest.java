package io.steelyard.domain;

import static io.steelyard.domain.EventRules.Rule.EXISTS;
import static io.steelyard.domain.EventRules.Rule.IN;
import static io.steelyard.domain.EventRules.Rule.MATCHES;
import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.domain.EventRules.Condition;
import io.steelyard.domain.EventRules.Rule;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

class EventRulesTest {
  private static final EventFacts EVENT = new EventFacts("api.request", "ada", data());

  private static Map<String, Object> data() {
    Map<String, Object> data = new HashMap<>();
    data.put("region", "eu-west");
    data.put("count", new BigDecimal("10.0"));
    data.put("int", 7);
    data.put("long", 5_000_000_000L);
    data.put("huge", new BigInteger("123456789012345678901234567890"));
    data.put("tiny", new BigDecimal("1E-7"));
    data.put("thousand", new BigDecimal("1E+3"));
    data.put("negative", "-2.50");
    data.put("text", "12abc");
    data.put("cached", true);
    data.put("nothing", null);
    data.put("empty", "");
    data.put("list", List.of("eu-west"));
    data.put("a", Map.of("b", Map.of("c", "deep"), "b.c", "half", "n", 3));
    data.put("x.y", "literal");
    data.put("x", Map.of("y", "path", "z", "only path"));
    return data;
  }

  @ParameterizedTest(name = "{0} {1} {2}: {3}")
  @CsvSource({
    "eventName, MATCHES, api.request, true",
    "eventName, MATCHES, api, false",
    "eventName, MATCHES, API.REQUEST, false",
    "userId, MATCHES, ada, true",
    "data.count, MATCHES, 10, true",
    "data.count, MATCHES, 10.0, false",
    "data.thousand, MATCHES, 1000, true",
    "data.tiny, MATCHES, 0.0000001, true",
    "data.huge, MATCHES, 123456789012345678901234567890, true",
    "data.cached, MATCHES, true, true",
    "data.empty, MATCHES, '', true",
    "data.nothing, MATCHES, null, false",
    "data.list, MATCHES, eu-west, false",
    "data.missing, MATCHES, '', false",
    "eventName, NOT_MATCHES, api.request, false",
    "eventName, NOT_MATCHES, other, true",
    "data.missing, NOT_MATCHES, other, true",
    "data.nothing, NOT_MATCHES, other, true",
    "data.list, NOT_MATCHES, eu-west, true",
    "data.region, CONTAINS, u-w, true",
    "data.region, CONTAINS, us, false",
    "data.count, CONTAINS, 0, true",
    "data.list, CONTAINS, eu, false",
    "data.missing, CONTAINS, '', false",
    "data.region, STARTS_WITH, eu-, true",
    "data.region, STARTS_WITH, west, false",
    "data.missing, STARTS_WITH, '', false",
    "data.int, GT, 6.9, true",
    "data.int, GT, 7, false",
    "data.int, GTE, 7.0, true",
    "data.int, GTE, 7.1, false",
    "data.int, LT, 7.1, true",
    "data.int, LT, 7, false",
    "data.int, LTE, 7, true",
    "data.int, LTE, 6, false",
    // By value, not by text.
    "data.count, GT, 9, true",
    "data.long, GT, 4999999999, true",
    "data.negative, LT, -2.4, true",
    "data.text, GT, 1, false",
    "data.text, LTE, 1, false",
    "data.cached, GT, 0, false",
    "data.missing, LT, 1, false",
    "data.int, GT, many, false",
    "data.int, LT, many, false",
  })
  void ruleComparesPropertyWithValue(String key, Rule rule, String value, boolean holds) {
    assertThat(matches(new Condition(key, rule, List.of(value)))).isEqualTo(holds);
  }

  @ParameterizedTest
  @CsvSource({
    "eventName, true",
    "userId, true",
    "data.region, true",
    "data.list, true",
    "data.a, true",
    "data.empty, true",
    "data.nothing, false",
    "data.missing, false",
    "data.region.deeper, false",
    "data, false",
    "region, false",
  })
  void existsIsAboutAnyValueButNull(String key, boolean exists) {
    assertThat(matches(new Condition(key, EXISTS, List.of()))).isEqualTo(exists);
  }

  @Test
  void inHoldsForAnyOfItsValues() {
    assertThat(matches(new Condition("data.region", IN, List.of("us", "eu-west")))).isTrue();
    assertThat(matches(new Condition("data.int", IN, List.of("7", "8")))).isTrue();
    assertThat(matches(new Condition("data.region", IN, List.of("us", "eu")))).isFalse();
    assertThat(matches(new Condition("data.missing", IN, List.of("us")))).isFalse();
    assertThat(matches(new Condition("data.region", IN, List.of()))).isFalse();
  }

  @ParameterizedTest
  @CsvSource({
    "data.a.b.c, half",
    "data.x.y, literal",
    "data.x.z, only path",
    "data.a.n, 3",
  })
  void aMemberWithDotsInItsNameWinsOverThePath(String key, String text) {
    assertThat(matches(new Condition(key, MATCHES, List.of(text)))).isTrue();
  }

  @Test
  void pathGoesIntoObjects() {
    Map<String, Object> nested = Map.of("a", Map.of("b", Map.of("c", "deep")));

    assertThat(new EventFacts("e", null, nested).property("data.a.b.c")).contains("deep");
    assertThat(new EventFacts("e", null, nested).property("data.a.c")).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({
    "data.usage.v1.tokens, 5",
    "data.usage.v1.by.region.eu.west, 7",
    "data.usage.v2.tokens, 9",
    "data.both.ways.in.a, 1",
    "data.both.ways.in.b, 2",
    "data.both.ways.in.c, 3",
    "data..leading, 4",
  })
  void anyMemberOnThePathMayHaveDotsInItsNameTheLongestNameFirst(String key, String number) {
    Map<String, Object> data =
        Map.of(
            "usage.v1",
            Map.of("tokens", 5, "by.region", Map.of("eu.west", 7)),
            "usage",
            Map.of("v1", 6, "v2", Map.of("tokens", 9)),
            "both.ways.in",
            Map.of("a", 1),
            "both.ways",
            Map.of("in", Map.of("a", 10, "b", 2)),
            "both",
            Map.of("ways.in", Map.of("a", 100, "b", 20, "c", 3)),
            "",
            Map.of("leading", 4));
    EventRules rules = new EventRules(List.of(List.of()), Calculation.SUM, key);

    assertThat(rules.number(new EventFacts("e", null, data))).contains(new BigDecimal(number));
  }

  @Test
  void aMemberWithoutAValueIsNotLookedForElsewhere() {
    Map<String, Object> empty = new HashMap<>();
    empty.put("b", null);
    Map<String, Object> data = Map.of("x.a", empty, "x", Map.of("a.b", 1), "x.a.c", List.of());

    assertThat(new EventFacts("e", null, data).property("data.x.a.b")).isEmpty();
    assertThat(new EventFacts("e", null, data).property("data.x.a.c.d")).isEmpty();
    assertThat(new EventFacts("e", null, data).property("data.x.a")).contains(empty);
    assertThat(new EventFacts("e", null, data).property("data.x.")).isEmpty();
  }

  @Test
  @Timeout(5)
  void howLongAPathIsLookedForIsAMatterOfTheEventNotOfItsDots() {
    Map<String, Object> data = Map.of("a", 1);
    for (int depth = 0; depth < 12; depth++) {
      data = Map.of("a", data, "a.a", data, "a.a.a", 1);
    }
    String wanted = "data." + "a.".repeat(4000) + "b";

    assertThat(new EventFacts("e", null, data).property(wanted)).isEmpty();
  }

  @Test
  void anEventWithoutUserOrDataHasNeither() {
    EventFacts bare = new EventFacts("e", null, null);

    assertThat(bare.property("eventName")).contains("e");
    assertThat(bare.property("userId")).isEmpty();
    assertThat(bare.property("data.a")).isEmpty();
  }

  @Test
  void outerListIsOrAndInnerListIsAnd() {
    Condition yes = new Condition("eventName", MATCHES, List.of("api.request"));
    Condition no = new Condition("eventName", MATCHES, List.of("other"));

    assertThat(counting(List.of(List.of(no), List.of(yes))).matches(EVENT)).isTrue();
    assertThat(counting(List.of(List.of(yes, no))).matches(EVENT)).isFalse();
    assertThat(counting(List.of(List.of(yes, yes), List.of(no))).matches(EVENT)).isTrue();
    assertThat(counting(List.of(List.of(no), List.of(yes, no))).matches(EVENT)).isFalse();
  }

  @Test
  void noConditionsMatchNothingAndAnEmptyConjunctionEverything() {
    assertThat(counting(List.of()).matches(EVENT)).isFalse();
    assertThat(counting(List.of(List.of())).matches(EVENT)).isTrue();
  }

  @ParameterizedTest
  @CsvSource({
    "data.count, 10.0",
    "data.int, 7",
    "data.long, 5000000000",
    "data.huge, 123456789012345678901234567890",
    "data.tiny, 0.0000001",
    "data.negative, -2.50",
    "data.a.n, 3",
    "data.text,",
    "data.cached,",
    "data.nothing,",
    "data.empty,",
    "data.list,",
    "data.a,",
    "data.missing,",
    "eventName,",
  })
  void numberIsAJsonNumberOrItsPlainText(String key, BigDecimal number) {
    Optional<BigDecimal> found = over(Calculation.SUM, key).number(EVENT);

    assertThat(found.isPresent()).isEqualTo(number != null);
    found.ifPresent(actual -> assertThat(actual).isEqualByComparingTo(number));
  }

  @ParameterizedTest
  @CsvSource({
    "0, true",
    "007, true",
    "-1, true",
    "1.50, true",
    "+1, false",
    "1., false",
    ".5, false",
    "1e3, false",
    "1 000, false",
    "'1,5', false",
    "' 1', false",
    "0x10, false",
    "NaN, false",
    "Infinity, false",
    "--1, false",
    "1.2.3, false",
    "-, false",
    "\u0663, false",
  })
  void textIsANumberOnlyInPlainNotation(String text, boolean number) {
    EventFacts event = new EventFacts("e", null, Map.of("n", text));

    assertThat(over(Calculation.SUM, "data.n").number(event))
        .isEqualTo(number ? Optional.of(new BigDecimal(text)) : Optional.empty());
  }

  @Test
  void textOfMoreDigitsThanANumberMayHaveIsNone() {
    EventFacts longest = new EventFacts("e", null, Map.of("n", "9".repeat(64)));
    EventFacts tooLong = new EventFacts("e", null, Map.of("n", "9".repeat(67)));

    assertThat(over(Calculation.MAX, "data.n").number(longest)).isPresent();
    assertThat(over(Calculation.MAX, "data.n").number(tooLong)).isEmpty();
  }

  @ParameterizedTest
  @CsvSource({
    "data.region, eu-west",
    "data.count, 10",
    "data.thousand, 1000",
    "data.cached, true",
    "data.negative, -2.50",
    "userId, ada",
    "data.list,",
    "data.a,",
    "data.nothing,",
    "data.missing,",
  })
  void uniqueValuesAreToldApartByTheirText(String key, String text) {
    assertThat(over(Calculation.UNIQUE_COUNT, key).text(EVENT))
        .isEqualTo(Optional.ofNullable(text));
  }

  @Test
  void aCountIsOverNothing() {
    EventRules count = over(Calculation.COUNT, null);

    assertThat(count.number(EVENT)).isEmpty();
    assertThat(count.text(EVENT)).isEmpty();
  }

  @ParameterizedTest
  @EnumSource(Rule.class)
  void rulesAreReadByTheNameTheyAreWrittenWith(Rule rule) {
    assertThat(WireName.parse(Rule.class, rule.wire())).isEqualTo(rule);
  }

  @Test
  void rulesHaveTheirDocumentedNames() {
    assertThat(Rule.values())
        .extracting(Rule::wire)
        .containsExactlyInAnyOrder(
            "matches",
            "notMatches",
            "contains",
            "startsWith",
            "exists",
            "gt",
            "gte",
            "lt",
            "lte",
            "in");
  }

  @Test
  void theNamesOfMatchingEventsAreKnownWhenEveryAlternativeNamesThem() {
    Condition one = new Condition("eventName", Rule.MATCHES, List.of("a"));
    Condition several = new Condition("eventName", Rule.IN, List.of("b", "c"));
    Condition user = new Condition("userId", Rule.MATCHES, List.of("a"));
    Condition not = new Condition("eventName", Rule.NOT_MATCHES, List.of("a"));
    Condition start = new Condition("eventName", Rule.STARTS_WITH, List.of("a"));

    assertThat(counting(List.of(List.of(one))).eventNames()).contains(Set.of("a"));
    assertThat(counting(List.of(List.of(user, one), List.of(several, not))).eventNames())
        .contains(Set.of("a", "b", "c"));
    assertThat(counting(List.of()).eventNames()).contains(Set.of());
    assertThat(counting(List.of(List.of())).eventNames()).isEmpty();
    assertThat(counting(List.of(List.of(one), List.of(user))).eventNames()).isEmpty();
    assertThat(counting(List.of(List.of(not))).eventNames()).isEmpty();
    assertThat(counting(List.of(List.of(start))).eventNames()).isEmpty();
  }

  private static boolean matches(Condition condition) {
    return counting(List.of(List.of(condition))).matches(EVENT);
  }

  private static EventRules counting(List<List<Condition>> conditions) {
    return new EventRules(conditions, Calculation.COUNT, null);
  }

  private static EventRules over(Calculation calculation, String property) {
    return new EventRules(List.of(), calculation, property);
  }
}

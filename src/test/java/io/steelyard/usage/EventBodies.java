package io.steelyard.usage;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Some hundred bodies of events, good and bad, with single quotes for double ones. */
final class EventBodies {
  private static final List<String> TEXTS =
      List.of(
          "''",
          "'c'",
          "' '",
          "'%s'".formatted("é".repeat(300)),
          "'%s'".formatted("x".repeat(8192)),
          "'%s'".formatted("x".repeat(8193)),
          "'%s'".formatted("😀".repeat(8192)),
          "'%s'".formatted("😀".repeat(8193)),
          "'%s'".formatted("\\ud83d\\ude00".repeat(5000)),
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
          "{'a':'%s'}".formatted("😀".repeat(8192)),
          "{'a':'%s'}".formatted("😀".repeat(8193)),
          "{'%s':1}".formatted("😀".repeat(5000)),
          "{'a/b~c':1e400}",
          "{'a':%s}".formatted("[".repeat(61) + "]".repeat(61)),
          "{'a':%s}".formatted("[".repeat(80) + "]".repeat(80)),
          "[]",
          "[{}]",
          "'text'",
          "5",
          "true",
          "null");

  private EventBodies() {}

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

  static Map<String, String> good() {
    Map<String, String> good = new LinkedHashMap<>();
    good.put("customerId", "'c'");
    good.put("eventName", "'n'");
    good.put("generatedAt", "'2026-01-01T00:00:00Z'");
    return good;
  }

  static String written(Map<String, String> members) {
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

  static Set<String> all() {
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
}

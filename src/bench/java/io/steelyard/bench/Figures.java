package io.steelyard.bench;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** The one table at the end: each figure beside its target and the bare limit of the same run. */
final class Figures {
  private static final List<String> HEAD =
      List.of("figure", "measured", "target", "bare limit", "ratio", "");

  private final List<List<String>> lines = new ArrayList<>();

  /** A rate, of which more is better. */
  Figures atLeast(String what, double measured, double target, String unit) {
    return add(what, unit, measured, ">=", target, measured >= target, "", "");
  }

  /** A rate beside what the machine does without the service. */
  Figures atLeast(
      String what, double measured, double target, String unit, String bareName, double bare) {
    return add(
        what,
        unit,
        measured,
        ">=",
        target,
        measured >= target,
        "%s %s".formatted(number(bare), bareName),
        number(measured / bare));
  }

  /** A time or size, of which less is better. */
  Figures atMost(String what, double measured, double target, String unit) {
    return add(what, unit, measured, "<=", target, measured <= target, "", "");
  }

  private Figures add(
      String what,
      String unit,
      double measured,
      String sign,
      double target,
      boolean reached,
      String bare,
      String ratio) {
    lines.add(
        List.of(
            what,
            number(measured) + " " + unit,
            sign + " " + number(target),
            bare,
            ratio,
            reached ? "" : "missed"));
    return this;
  }

  private static String number(double number) {
    return String.format(Locale.ROOT, Math.abs(number) < 100 ? "%.2f" : "%,.0f", number);
  }

  void print() {
    if (lines.isEmpty()) {
      return;
    }
    List<List<String>> all = new ArrayList<>(lines);
    all.addFirst(HEAD);
    for (List<String> line : all) {
      StringBuilder text = new StringBuilder();
      for (int column = 0; column < HEAD.size(); column++) {
        int of = column;
        int width = all.stream().mapToInt(each -> each.get(of).length()).max().orElse(0);
        text.append(column == 0 ? "" : " | ")
            .append(("%-" + Math.max(1, width) + "s").formatted(line.get(column)));
      }
      System.out.println(text.toString().stripTrailing());
    }
  }
}

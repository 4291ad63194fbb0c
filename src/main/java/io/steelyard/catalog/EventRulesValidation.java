package io.steelyard.catalog;

import io.steelyard.catalog.CatalogDocument.Condition;
import io.steelyard.catalog.CatalogDocument.Rules;
import io.steelyard.domain.Calculation;
import io.steelyard.domain.EventRules.Rule;
import io.steelyard.domain.WireName;
import java.math.BigDecimal;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Whether a billable's event rules can be evaluated. */
final class EventRulesValidation {
  private static final int ALTERNATIVES_MAX = 100;
  private static final int CONDITIONS_MAX = 100;
  private static final int VALUES_MAX = 1000;
  private static final Pattern KEY = Pattern.compile("eventName|userId|data\\..+", Pattern.DOTALL);
  // The plain notation in which event rules read numbers out of text, and its length.
  private static final Pattern NUMBER = Pattern.compile("-?\\d+(\\.\\d+)?");
  private static final int NUMBER_CHARS_MAX = 66;

  private final Faults faults;

  private EventRulesValidation(Faults faults) {
    this.faults = faults;
  }

  /**
   * @param rules null is fine: nothing is metered then
   */
  static void check(String at, Rules rules, Faults faults) {
    if (rules != null) {
      new EventRulesValidation(faults).rules(at, rules);
    }
  }

  private void rules(String at, Rules rules) {
    if (faults.required(at + "/conditions", rules.conditions())
        && faults.list(at + "/conditions", rules.conditions(), ALTERNATIVES_MAX)) {
      for (int i = 0; i < rules.conditions().size(); i++) {
        all(at + "/conditions/" + i, rules.conditions().get(i));
      }
    }
    Calculation calculation = named(Calculation.class, at + "/calculation", rules.calculation());
    if (rules.overProperty() != null) {
      key(at + "/overProperty", rules.overProperty());
    } else if (calculation != null && calculation != Calculation.COUNT) {
      faults.add(at + "/overProperty", "required", "is required for every calculation but count");
    }
  }

  private void all(String at, List<Condition> conditions) {
    if (faults.list(at, conditions, CONDITIONS_MAX)) {
      for (int i = 0; i < conditions.size(); i++) {
        condition(at + "/" + i, conditions.get(i));
      }
    }
  }

  private void condition(String at, Condition condition) {
    if (faults.required(at + "/key", condition.key())) {
      key(at + "/key", condition.key());
    }
    Rule rule = named(Rule.class, at + "/rule", condition.rule());
    if (rule != null) {
      value(at + "/value", rule, condition.value());
    }
  }

  private void key(String at, String key) {
    if (!KEY.matcher(key).matches()) {
      faults.add(at, "format", "must be eventName, userId or data.<path>");
    }
  }

  private void value(String at, Rule rule, Object value) {
    switch (rule) {
      case EXISTS -> {
        if (value != null) {
          faults.add(at, "not_allowed", "exists takes no value");
        }
      }
      case IN -> {
        if (faults.required(at, value)) {
          values(at, value);
        }
      }
      case GT, GTE, LT, LTE -> {
        if (faults.required(at, value) && !isNumber(value)) {
          faults.add(at, "wrong_type", "must be a number in plain notation");
        }
      }
      case MATCHES, NOT_MATCHES, CONTAINS, STARTS_WITH -> {
        if (faults.required(at, value) && !isScalar(value)) {
          faults.add(at, "wrong_type", "must be text");
        }
      }
    }
  }

  private void values(String at, Object value) {
    if (!(value instanceof List<?> list) || list.isEmpty()) {
      faults.add(at, "wrong_type", "must be a list of at least one text");
      return;
    }
    if (faults.list(at, list, VALUES_MAX)) {
      for (int i = 0; i < list.size(); i++) {
        if (!isScalar(list.get(i))) {
          faults.add(at + "/" + i, "wrong_type", "must be text");
        }
      }
    }
  }

  private static boolean isScalar(Object value) {
    return value instanceof String
        || value instanceof Boolean
        || value instanceof Number number && Faults.inBounds(new BigDecimal(number.toString()));
  }

  private static boolean isNumber(Object value) {
    if (!isScalar(value)) {
      return false;
    }
    String text = CatalogDefaults.text(value);
    return text.length() <= NUMBER_CHARS_MAX && NUMBER.matcher(text).matches();
  }

  private <E extends Enum<E> & WireName> E named(Class<E> type, String at, String wire) {
    if (!faults.required(at, wire)) {
      return null;
    }
    E[] known = type.getEnumConstants();
    for (E constant : known) {
      if (constant.wire().equals(wire)) {
        return constant;
      }
    }
    String names = Stream.of(known).map(WireName::wire).collect(Collectors.joining(", "));
    faults.add(at, "enum", "must be one of " + names);
    return null;
  }
}

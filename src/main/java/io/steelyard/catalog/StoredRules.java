package io.steelyard.catalog;

import com.fasterxml.jackson.core.JsonProcessingException;
import io.steelyard.domain.Calculation;
import io.steelyard.domain.EventRules;
import io.steelyard.domain.PriceRules;
import io.steelyard.domain.WireName;
import io.steelyard.json.Json;
import java.math.BigDecimal;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The rules of prices and billables between their stored JSON, the domain, and the views. */
final class StoredRules {
  private StoredRules() {}

  static PriceRules priceRules(String json) {
    Map<String, Object> rules = Json.readMap(json);
    BigDecimal price = number(rules.get("price"));
    return new PriceRules(
        number(rules.get("quantity")),
        price == null ? BigDecimal.ZERO : price,
        tiers(rules.get("tiers")));
  }

  private static List<PriceRules.Tier> tiers(Object stored) {
    return stored instanceof List<?> tiers
        ? tiers.stream().map(tier -> tier((Map<?, ?>) tier)).toList()
        : List.of();
  }

  private static PriceRules.Tier tier(Map<?, ?> stored) {
    return new PriceRules.Tier(
        number(stored.get("upTo")), number(stored.get("price")), number(stored.get("flatFee")));
  }

  /** The JSON object as stored, its numbers exact. */
  static Map<String, Object> priceRulesView(String json) {
    return exact(Json.readMap(json));
  }

  static EventRules eventRules(String json) {
    if (json == null) {
      return null;
    }
    CatalogDocument.Rules rules = documentRules(json);
    return new EventRules(
        rules.conditions().stream()
            .map(all -> all.stream().map(StoredRules::condition).toList())
            .toList(),
        WireName.parse(Calculation.class, rules.calculation()),
        rules.overProperty());
  }

  private static EventRules.Condition condition(CatalogDocument.Condition condition) {
    return new EventRules.Condition(
        condition.key(),
        WireName.parse(EventRules.Rule.class, condition.rule()),
        values(condition));
  }

  private static List<String> values(CatalogDocument.Condition condition) {
    return switch (condition.value()) {
      case null -> List.of();
      case List<?> list -> list.stream().map(Object::toString).toList();
      case Object value -> List.of(value.toString());
    };
  }

  /**
   * In the documented shape, where every member is text: the values of {@code in} are joined by
   * commas, what a rule or calculation lacks is the empty text, and a billable without rules has no
   * conditions, which match nothing.
   */
  static Map<String, Object> eventRulesView(String json) {
    CatalogDocument.Rules rules =
        json == null
            ? new CatalogDocument.Rules(List.of(), Calculation.COUNT.wire(), null)
            : documentRules(json);
    Map<String, Object> view = new LinkedHashMap<>();
    view.put(
        "conditions",
        rules.conditions().stream()
            .map(all -> all.stream().map(StoredRules::conditionView).toList())
            .toList());
    view.put("calculation", rules.calculation());
    view.put("overProperty", rules.overProperty() == null ? "" : rules.overProperty());
    return view;
  }

  private static Map<String, Object> conditionView(CatalogDocument.Condition condition) {
    Map<String, Object> view = new LinkedHashMap<>();
    view.put("key", condition.key());
    view.put("rule", condition.rule());
    view.put("value", String.join(",", values(condition)));
    return view;
  }

  static CatalogDocument.Rules documentRules(String json) {
    try {
      return Json.MAPPER.readValue(json, CatalogDocument.Rules.class);
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("stored event rules are malformed", e);
    }
  }

  private static Map<String, Object> exact(Map<?, ?> map) {
    Map<String, Object> exact = new LinkedHashMap<>();
    map.forEach((key, value) -> exact.put(key.toString(), exact(value)));
    return exact;
  }

  private static Object exact(Object value) {
    return switch (value) {
      case Map<?, ?> map -> exact(map);
      case List<?> list -> list.stream().map(StoredRules::exact).toList();
      case Number number -> number(number);
      case null -> null;
      default -> value;
    };
  }

  private static BigDecimal number(Object value) {
    return value == null ? null : Json.plain(new BigDecimal(value.toString()));
  }
}

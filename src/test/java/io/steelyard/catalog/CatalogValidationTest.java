package io.steelyard.catalog;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import io.steelyard.bus.Failure.Fault;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class CatalogValidationTest {
  private static final String SEATS = "{quantity: 5, price: 20}";
  private static final String CONDITION = "{key: eventName, rule: matches, value: api.request}";
  private static final String VALUE = "/billables/0/eventQueryRules/conditions/0/0/value";
  private static final String SEATS_RULES = "/plans/0/prices/1/rules";

  /** What is replaced in the valid catalogue, by what, and the fault that makes. */
  static Stream<Arguments> faults() {
    return Stream.of(
        arguments("slug: seats", "slug: api-requests", "/billables/1/slug", "duplicate"),
        arguments("key: credits", "key: ''", "/customPricingUnits/0/key", "min_length"),
        arguments(
            "key: credits", "key: " + "k".repeat(256), "/customPricingUnits/0/key", "max_length"),
        arguments(
            "displayName: Credits",
            "shortName: c",
            "/customPricingUnits/0/displayName",
            "required"),
        arguments("name: Pro", "description: none", "/plans/0/name", "required"),
        arguments(
            "name: Pro", "name: Pro\n    trialDays: -1", "/plans/0/trialDays", "out_of_range"),
        arguments(
            "name: Pro",
            "name: Pro\n    requestPricingUrl: ftp://x.y",
            "/plans/0/requestPricingUrl",
            "format"),
        arguments("name: Pro", "name: Pro\n    isPrivate: true", "/defaultPlan", "private_plan"),
        arguments("defaultPlan: pro", "defaultPlan: max", "/defaultPlan", "unknown_plan"),
        arguments("monthly: 49", "monthly: -1", "/plans/0/basePrices/monthly", "minimum"),
        arguments(
            "billable: seats",
            "billable: chairs",
            "/plans/0/prices/1/billable",
            "unknown_billable"),
        arguments(
            "billable: seats", "billable: api-requests", "/plans/0/prices/1/billable", "duplicate"),
        arguments(
            "billable: seats",
            "billable: api-requests, billingCadence: monthly",
            "/plans/0/prices/1/billable",
            "duplicate"),
        arguments("limit: 10", "limit: 51", "/plans/0/prices/0/limit", "above_max_usage"),
        arguments("limit: 10", "limit: -1", "/plans/0/prices/0/limit", "minimum"),
        arguments(
            "limit: 10",
            "usesCustomPricingUnit: true",
            "/plans/0/prices/0/customPricingUnit",
            "required"),
        arguments(
            "limit: 10",
            "customPricingUnit: credits",
            "/plans/0/prices/0/usesCustomPricingUnit",
            "inconsistent"),
        arguments(
            "limit: 10",
            "usesCustomPricingUnit: true, customPricingUnit: points",
            "/plans/0/prices/0/customPricingUnit",
            "unknown_custom_pricing_unit"),
        arguments(
            "billingMode: advance",
            "billingMode: advance, usesCustomPricingUnit: true, customPricingUnit: credits",
            "/plans/0/prices/1/billingMode",
            "inconsistent"),
        arguments(SEATS, "{quantity: 0, price: 20}", SEATS_RULES + "/quantity", "minimum"),
        arguments(SEATS, "{quantity: 5, price: -1}", SEATS_RULES + "/price", "minimum"),
        arguments(SEATS, "{quantity: 5, price: cheap}", SEATS_RULES + "/price", "wrong_type"),
        arguments(SEATS, "{quantity: 5}", SEATS_RULES + "/price", "required"),
        arguments(
            SEATS, "{quantity: 5, price: 1, prize: 1}", SEATS_RULES + "/prize", "unknown_property"),
        arguments(SEATS, "{price: 1, tiers: [{price: 1}]}", SEATS_RULES + "/tiers", "inconsistent"),
        arguments(SEATS, "{price: 1}, priceType: volume", SEATS_RULES + "/tiers", "required"),
        arguments(SEATS, "{tiers: []}, priceType: tiered", SEATS_RULES + "/tiers", "min_items"),
        arguments(
            SEATS,
            "{tiers: [{upTo: 9, price: 1}]}, priceType: tiered",
            SEATS_RULES + "/tiers/0/upTo",
            "not_allowed"),
        arguments(
            SEATS,
            "{tiers: [{price: 1}, {price: 1}]}, priceType: tiered",
            SEATS_RULES + "/tiers/0/upTo",
            "required"),
        arguments(
            SEATS,
            "{tiers: [{upTo: 5, price: 1}, {upTo: 5, price: 1}, {price: 1}]}, priceType: tiered",
            SEATS_RULES + "/tiers/1/upTo",
            "not_ascending"),
        arguments(
            SEATS,
            "{tiers: [{upTo: 5}, {price: 1}]}, priceType: tiered",
            SEATS_RULES + "/tiers/0/price",
            "required"),
        arguments(
            SEATS,
            "{tiers: [{price: 1, flatFee: -1}]}, priceType: tiered",
            SEATS_RULES + "/tiers/0/flatFee",
            "minimum"),
        arguments("amount: 1000", "amount: 0", "/plans/0/allocations/0/amount", "minimum"),
        arguments(
            "amount: 1000",
            "amount: 1000, rolloverMax: -0.1",
            "/plans/0/allocations/0/rolloverMax",
            "minimum"),
        arguments(
            "customPricingUnit: credits",
            "customPricingUnit: points",
            "/plans/0/allocations/0/customPricingUnit",
            "unknown_custom_pricing_unit"),
        arguments(
            "- {customPricingUnit: credits, amount: 1000}",
            "[{customPricingUnit: credits, amount: 1}, {customPricingUnit: credits, amount: 2}]",
            "/plans/0/allocations/1/customPricingUnit",
            "duplicate"),
        arguments(
            "calculation: sum",
            "calculation: product",
            "/billables/0/eventQueryRules/calculation",
            "enum"),
        arguments(
            "overProperty: data.count",
            "",
            "/billables/0/eventQueryRules/overProperty",
            "required"),
        arguments(
            "overProperty: data.count",
            "overProperty: count",
            "/billables/0/eventQueryRules/overProperty",
            "format"),
        arguments(
            CONDITION,
            "{key: name, rule: matches, value: x}",
            "/billables/0/eventQueryRules/conditions/0/0/key",
            "format"),
        arguments(
            CONDITION,
            "{key: eventName, rule: equals, value: x}",
            "/billables/0/eventQueryRules/conditions/0/0/rule",
            "enum"),
        arguments(CONDITION, "{key: eventName, rule: matches}", VALUE, "required"),
        arguments(CONDITION, "{key: eventName, rule: matches, value: [x]}", VALUE, "wrong_type"),
        arguments(CONDITION, "{key: data.n, rule: gt, value: many}", VALUE, "wrong_type"),
        arguments(CONDITION, "{key: data.n, rule: lte, value: '1e5'}", VALUE, "wrong_type"),
        arguments(CONDITION, "{key: data.n, rule: in, value: x}", VALUE, "wrong_type"),
        arguments(CONDITION, "{key: data.n, rule: in, value: [[x]]}", VALUE + "/0", "wrong_type"),
        arguments(CONDITION, "{key: data.n, rule: exists, value: x}", VALUE, "not_allowed"),
        arguments("- {slug: seats, name: Seats}", "- ~", "/billables/1", "required"));
  }

  @ParameterizedTest
  @MethodSource("faults")
  void aFaultIsNamedWhereItIs(String target, String replacement, String pointer, String code) {
    CatalogDocument document = Given.proWith(target, replacement);

    assertThat(CatalogValidation.faults(document))
        .extracting(fault -> fault.pointer() + " " + fault.code())
        .contains(pointer + " " + code);
  }

  @Test
  void withoutAFaultNothingIsSaid() {
    assertThat(CatalogValidation.faults(Given.pro())).isEmpty();
  }

  @Test
  void everyFaultIsNamedAtOnce() {
    CatalogDocument document =
        Given.document(
            """
            plans:
              - {externalId: a, name: '', trialDays: 9999, prices: [{billable: x, rules: {}}]}
              - {externalId: a, name: A}
            """);

    assertThat(CatalogValidation.faults(document))
        .extracting(Fault::pointer)
        .containsExactly(
            "/plans/0/name",
            "/plans/0/trialDays",
            "/plans/0/prices/0/billable",
            "/plans/0/prices/0/rules/price",
            "/plans/1/externalId");
  }

  @ParameterizedTest
  @MethodSource("accepted")
  void whatCanBeBilledIsAccepted(String target, String replacement) {
    assertThat(CatalogValidation.faults(Given.proWith(target, replacement))).isEmpty();
  }

  static Stream<Arguments> accepted() {
    return Stream.of(
        arguments("basePrices: {monthly: 49, annually: 490}", "basePrices: {oneTime: 0}"),
        arguments(SEATS, "{price: 0}"),
        arguments(
            SEATS, "{tiers: [{upTo: 5, price: 0}, {price: 1, flatFee: 2}]}, priceType: volume"),
        arguments("overProperty: data.count", "overProperty: userId"),
        arguments("calculation: sum\n      overProperty: data.count", "calculation: count"),
        arguments(CONDITION, "{key: data.n, rule: gt, value: 5}"),
        arguments(CONDITION, "{key: data.n, rule: lt, value: '-5.5'}"),
        arguments(CONDITION, "{key: data.n, rule: in, value: [a, 5, true]}"),
        arguments(CONDITION, "{key: userId, rule: exists}"),
        arguments("limit: 10", "limit: 50"));
  }

  @Test
  void aBillableMayHaveAPriceForEachCadence() {
    CatalogDocument document =
        Given.document(
            """
            billables: [{slug: b, name: B}]
            plans:
              - externalId: a
                name: A
                prices:
                  - {billable: b, billingCadence: monthly, rules: {price: 1}}
                  - {billable: b, billingCadence: annually, rules: {price: 9}}
              - {externalId: free, name: Free}
            """);

    assertThat(CatalogValidation.faults(document)).isEmpty();
  }

  @Test
  void anEmptyDocumentAndTheDemoAreFine() {
    CatalogDocument empty = new CatalogDocument(null, null, null, null);

    assertThat(CatalogValidation.faults(empty)).isEqualTo(List.of());
    assertThat(CatalogValidation.faults(Given.demo())).isEmpty();
  }

  @Test
  void numbersThatCannotBeReckonedWithAreRefusedBeforeTheyAreWrittenOut() {
    CatalogDocument.BasePrices huge =
        new CatalogDocument.BasePrices(new java.math.BigDecimal("1e999999999"), null, null, null);
    CatalogDocument.Plan plan =
        new CatalogDocument.Plan(
            "a", "A", null, null, null, null, null, null, null, null, null, null, huge, null, null);
    CatalogDocument document = new CatalogDocument(null, null, List.of(plan), null);

    assertThat(CatalogValidation.faults(document)).extracting(Fault::code).contains("out_of_range");
  }
}

package io.steelyard.bench;

/** What the benchmarks' merchants sell. */
final class Catalogs {
  /** One base price and two usage prices; by the counters of {@link Rows}, 29.00 a month. */
  static final String BILLING =
      """
      billables:
        - slug: requests
          name: Requests
          eventQueryRules:
            conditions: [[{key: eventName, rule: matches, value: request}]]
            calculation: sum
            overProperty: data.count
        - slug: tokens
          name: Tokens
          eventQueryRules:
            conditions: [[{key: eventName, rule: matches, value: tokens}]]
            calculation: sum
            overProperty: data.count
      plans:
        - externalId: bench
          name: Bench
          netTerms: net30
          basePrices: {monthly: 20}
          prices:
            - {name: Requests, billable: requests, billingMode: arrears, priceType: unit,
               rules: {quantity: 1, price: 0.01}}
            - name: Tokens
              billable: tokens
              billingMode: arrears
              priceType: tiered
              rules: {quantity: 1, tiers: [{upTo: 1000, price: 0.002}, {price: 0.001}]}
      """;

  /** A default plan with a base price, two usage prices and an allocation. */
  static final String CUSTOMERS =
      "customPricingUnits:\n"
          + "  - {key: credits, displayName: Credits, displayNameSingular: Credit, shortName: cr}\n"
          + BILLING.replace(
              "plans:\n  - externalId: bench\n    name: Bench\n",
              """
              plans:
                - externalId: bench
                  name: Bench
                  allocations: [{customPricingUnit: credits, amount: 1000, billingCadence: monthly}]
              """)
          + "defaultPlan: bench\n";

  /**
   * Each event counts for two billables. Of the plan {@code units} a request also draws one unit,
   * and no customer runs out of them.
   */
  static final String METERED =
      """
      customPricingUnits:
        - {key: credits, displayName: Credits, displayNameSingular: Credit, shortName: cr}
      billables:
        - slug: requests
          name: Requests
          eventQueryRules:
            conditions: [[{key: eventName, rule: matches, value: request}]]
            calculation: count
        - slug: tokens
          name: Tokens
          eventQueryRules:
            conditions: [[{key: eventName, rule: matches, value: request}]]
            calculation: sum
            overProperty: data.count
      plans:
        - externalId: bench
          name: Bench
          netTerms: net30
          basePrices: {monthly: 20}
          prices:
            - {name: Requests, billable: requests, priceType: unit,
               rules: {quantity: 1, price: 0.0001}}
            - {name: Tokens, billable: tokens, priceType: unit,
               rules: {quantity: 1, price: 0.0001}}
        - externalId: units
          name: Units
          netTerms: net30
          basePrices: {monthly: 20}
          prices:
            - {name: Requests, billable: requests, priceType: unit,
               rules: {quantity: 1, price: 1},
               usesCustomPricingUnit: true, customPricingUnit: credits}
            - {name: Tokens, billable: tokens, priceType: unit,
               rules: {quantity: 1, price: 0.0001}}
          allocations: [{customPricingUnit: credits, amount: 1000000000,
                         billingCadence: monthly}]
      """;

  private Catalogs() {}
}

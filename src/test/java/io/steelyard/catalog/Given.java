package io.steelyard.catalog;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Catalogues for tests. */
final class Given {
  static final String PRO =
      """
      customPricingUnits:
        - {key: credits, displayName: Credits}
      billables:
        - slug: api-requests
          name: API requests
          eventQueryRules:
            conditions: [[{key: eventName, rule: matches, value: api.request}]]
            calculation: sum
            overProperty: data.count
        - {slug: seats, name: Seats}
      plans:
        - externalId: pro
          name: Pro
          basePrices: {monthly: 49, annually: 490}
          prices:
            - {billable: api-requests, rules: {quantity: 1, price: 0.002}, limit: 10, maxUsage: 50}
            - {billable: seats, billingMode: advance, rules: {quantity: 5, price: 20}}
          allocations:
            - {customPricingUnit: credits, amount: 1000}
      defaultPlan: pro
      """;

  private Given() {}

  static CatalogDocument document(String yaml) {
    return CatalogParser.document(CatalogParser.yaml(yaml));
  }

  static CatalogDocument pro() {
    return document(PRO);
  }

  /** The catalogue of {@link #PRO} with one thing changed, which must be there. */
  static CatalogDocument proWith(String target, String replacement) {
    if (!PRO.contains(target)) {
      throw new IllegalArgumentException("nothing to replace: " + target);
    }
    return document(PRO.replace(target, replacement));
  }

  static CatalogDocument demo() {
    try {
      return document(Files.readString(Path.of("conf/demo-catalog.yaml")));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}

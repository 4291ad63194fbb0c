package io.steelyard.catalog;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.bus.Failure.Fault;
import io.steelyard.json.Schemas;
import io.steelyard.json.Validator;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The operator's document takes what the catalogue can be made from, defaults left out. */
class CatalogSchemaTest {
  private final Validator schemas = Schemas.operator().validator();

  @Test
  void theDemoCatalogueFits() throws IOException {
    assertThat(faults(Files.readString(Path.of("conf/demo-catalog.yaml")))).isEmpty();
  }

  @Test
  void aPriceNeedsOnlyWhatHasNoDefault() {
    assertThat(faults(withPrice("{billable: storage, rules: {price: 0.25}}"))).isEmpty();
  }

  @Test
  void aPriceOfNoTypeHasNoTiers() {
    assertThat(faults(withPrice("{billable: storage, rules: {tiers: [{price: 1}]}}")))
        .extracting(Fault::pointer)
        .contains("/plans/0/prices/0/rules/tiers", "/plans/0/prices/0/rules/price");
  }

  private static String withPrice(String price) {
    return "plans: [{externalId: pro, name: Pro, prices: [%s]}]".formatted(price);
  }

  private List<Fault> faults(String yaml) {
    return schemas.check("Catalog", CatalogParser.yaml(yaml));
  }
}

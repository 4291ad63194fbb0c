package io.steelyard.catalog;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import io.steelyard.bus.Failure;
import io.steelyard.bus.FailureException;
import io.steelyard.domain.BillingCadence;
import io.steelyard.domain.NetTerms;
import java.math.BigDecimal;
import java.util.List;
import java.util.Map;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class CatalogParserTest {
  @ParameterizedTest
  @ValueSource(
      strings = {
        "a: 1\na: 2", // the same key twice
        "a: &x [1]\nb: *x", // an alias
        "a: &x {b: 1}\nc: {<<: *x}", // a merge key
        "a: !!str 1", // a tag
        "a: !!java.util.Date 2024-01-01", // a type of some language
        "a: 1\n---\nb: 2", // two documents
        "a: [1", // an open end
        "a: \"\\0\"", // what the database cannot store
        "", // nothing
        "a: 1.0e+999999999" // a number that cannot be written out
      })
  void whatYamlHasBeyondJsonIsRefused(String yaml) {
    assertThat(codeOf(() -> CatalogParser.yaml(yaml))).isEqualTo("malformed_yaml");
  }

  @Test
  void deepNestingIsRefusedWithoutExhaustingTheStack() {
    assertThat(codeOf(() -> CatalogParser.yaml("[".repeat(100_000)))).isEqualTo("malformed_yaml");
    String nested = "[".repeat(65) + "]".repeat(65);
    assertThat(codeOf(() -> CatalogParser.yaml(nested))).isEqualTo("malformed_yaml");
  }

  @Test
  void hugeTextIsRefused() {
    String yaml = "a: " + "x".repeat(9000);

    assertThat(codeOf(() -> CatalogParser.yaml(yaml))).isEqualTo("malformed_yaml");
  }

  @ParameterizedTest
  @CsvSource({
    "yes, yes",
    "no, no",
    "on, on",
    "2024-01-01, 2024-01-01",
    "010, 010",
    "0x1F, 0x1F",
    "1_000, 1_000",
    "0o17, 0o17",
    "12:30:00, 12:30:00",
    ".inf, .inf",
    "+5, +5"
  })
  void scalarsThatJsonDoesNotKnowStayText(String scalar, String text) {
    assertThat(CatalogParser.yaml("a: " + scalar)).isEqualTo(Map.of("a", text));
  }

  @Test
  void numbersAreExact() {
    Map<String, Object> expected =
        Map.of("a", List.of(new BigDecimal("0.10"), new BigDecimal("12345678901234567890")));

    assertThat(CatalogParser.yaml("a: [0.10, 12345678901234567890]")).isEqualTo(expected);
  }

  @Test
  void aDocumentIsReadWithItsEnumsByTheirDocumentedNames() {
    CatalogDocument document =
        Given.document(
            """
            plans:
              - {externalId: x, name: X, netTerms: net60, trialDays: 14, prices: [
                  {billable: b, billingCadence: oneTime, rules: {quantity: 1, price: 0.30}}]}
            """);

    CatalogDocument.Plan plan = document.plans().getFirst();
    assertThat(plan.netTerms()).isEqualTo(NetTerms.NET60);
    assertThat(plan.trialDays()).isEqualTo(14);
    assertThat(plan.prices().getFirst().billingCadence()).isEqualTo(BillingCadence.ONE_TIME);
    assertThat(plan.prices().getFirst().rules().get("price")).isEqualTo(new BigDecimal("0.3"));
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "plans: [{externalId: x, nmae: X}]           | /plans/0/nmae      | unknown_property",
        "plans: [{externalId: x, netTerms: net31}]   | /plans/0/netTerms  | wrong_type",
        "plans: [{externalId: x, trialDays: 1.5}]    | /plans/0/trialDays | wrong_type",
        "plans: [{externalId: x, isPrivate: 'true'}] | /plans/0/isPrivate | wrong_type",
        "plans: [{externalId: 5}]                    | /plans/0/externalId | wrong_type",
        "plans: [{basePrices: {monthly: '49'}}] | /plans/0/basePrices/monthly | wrong_type",
        "plans: {}                                   | /plans             | wrong_type",
        "[]                                          | ''                 | wrong_type"
      })
  void whatHasNoPlaceInADocumentIsNamed(String yaml, String pointer, String code) {
    Object tree = CatalogParser.yaml(yaml);

    assertThat(faultOf(() -> CatalogParser.document(tree)))
        .extracting(Failure.Fault::pointer, Failure.Fault::code)
        .containsExactly(pointer, code);
  }

  @Test
  void yamlThatIsWrittenReadsBackTheSame() {
    CatalogDocument demo = CatalogDefaults.complete(Given.demo());

    assertThat(Given.document(CatalogYaml.write(demo))).isEqualTo(demo);
  }

  @Test
  void textThatLooksLikeSomethingElseSurvivesYaml() {
    for (String text :
        List.of("1.5e+3", "true", "null", "~", "2024-01-01", "- a", "a: b", "#", "ü\n")) {
      CatalogDocument document =
          new CatalogDocument(
              List.of(new CatalogDocument.Unit("k", text, null, null)), null, null, null);

      assertThat(Given.document(CatalogYaml.write(document))).isEqualTo(document);
    }
  }

  private static String codeOf(ThrowingCallable reading) {
    return faultOf(reading).code();
  }

  private static Failure.Fault faultOf(ThrowingCallable reading) {
    FailureException refused = catchThrowableOfType(FailureException.class, reading);
    return ((Failure.Invalid) refused.failure()).faults().getFirst();
  }
}

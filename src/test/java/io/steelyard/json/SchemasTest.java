package io.steelyard.json;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.steelyard.bus.Failure.Fault;
import io.steelyard.config.Config;
import io.vertx.core.buffer.Buffer;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class SchemasTest {
  private static final Schemas EXTERNAL = Schemas.external();
  private static final Schemas OPERATOR = Schemas.operator();
  private static final StrictJson JSON =
      new StrictJson(
          new Config.Limits(
              8 << 20, 10_000, 1000, 1000, 64, 16_384, 8192, 65_536, 10_000, 512, 50, 256, 1 << 27,
              50, 0, 0));

  private final Validator external = EXTERNAL.validator();
  private final Validator operator = OPERATOR.validator();

  private static Object tree(String json) {
    StrictJson.Result result = JSON.read(Buffer.buffer(json));
    assertThat(result.faults()).isEmpty();
    return result.value();
  }

  private static List<String> faults(Validator validator, String schema, String json) {
    return names(validator.check(schema, tree(json)));
  }

  private static List<String> names(List<Fault> faults) {
    return faults.stream().map(fault -> fault.pointer() + " " + fault.code()).toList();
  }

  private List<String> customer(String members) {
    return faults(external, "CustomerInput", "{\"externalId\":\"a\"," + members + "}");
  }

  @Test
  void aFullCustomerFits() {
    assertThat(
            customer(
                """
                "name":"Ada","email":"ada+b@mail.example.co.uk","billingAddress1":"1 Main St",
                "billingAddress2":null,"billingCity":null,"billingCountry":"US","billingState":"IL",
                "billingZipCode":"62701","shippingZipCode":"62701-1234","shippingAddress1":null,
                "shippingAddress2":null,"shippingCity":null,"shippingCountry":null,
                "shippingState":null,"ledgerAId":"A","cardGatewayId":"g","ledgerBId":"B"\
                """))
        .isEmpty();
  }

  @Test
  void threeBadFieldsAreThreeFaults() {
    assertThat(customer("\"email\":\"x\",\"billingZipCode\":\"1\",\"name\":\"\""))
        .containsExactlyInAnyOrder("/email pattern", "/billingZipCode pattern", "/name min_length");
  }

  @Test
  void unknownMissingMistypedAndMisshapenAreAllNamedTogether() {
    assertThat(
            faults(
                external,
                "NewSubscription",
                """
                {"planid":"p","customerId":7,"startDate":"tomorrow","netTerms":"net45",
                 "autoSendInvoice":"yes","invoiceGenerationStartDate":"2026-01-01",
                 "a/b~c":{"deep":[1]}}"""))
        .containsExactlyInAnyOrder(
            "/planId required",
            "/planid unknown_property",
            "/a~1b~0c unknown_property",
            "/customerId type",
            "/startDate format",
            "/netTerms enum",
            "/autoSendInvoice type",
            "/invoiceGenerationStartDate format");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "CustomerInput    | []                                             | '' type",
        "CustomerInput    | null                                           | '' type",
        "CustomerInput    | {}                                             | /externalId required",
        "CustomerInput    | {\"externalId\":null}                          | /externalId type",
        "CustomerInput    | {\"externalId\":\"\"}                          | /externalId min_length",
        "CustomerInput    | {\"externalId\":\"a\",\"email\":\"\"}          | /email min_length",
        "CustomerInput    | {\"externalId\":\"a\",\"\":1}                  | / unknown_property",
        "CustomerInput    | {\"externalId\":\"a\",\"\\tA\":1}              | /\tA unknown_property",
        "CustomerInput    | {\"externalId\":\"a\",\"É %\":1}               | /É % unknown_property",
        "CancelBody       | {\"externalCustomerId\":3}                     | /externalCustomerId type",
        "RenewBody        | {}                                             | /externalCustomerId required",
        "SetupSessionBody | {}                                             | /successUrl required",
        "SetupSessionBody | {\"successUrl\":\"https://a/b\",\"email\":null}| /email type",
        "SetupSessionBody | {\"successUrl\":\"javascript:alert(1)\"}       | /successUrl format",
        "EventBatch       | []                                             | '' min_items",
        "EventBody        | []                                             | '' min_items",
        "EventBody        | 7                                              | '' type",
        "EventBody        | {\"eventName\":\"\",\"customerId\":\"c\",\"generatedAt\":\"2026-01-01T00:00:00Z\"} | /eventName min_length",
        "EventBody        | [{\"eventName\":\"n\",\"customerId\":\"c\",\"generatedAt\":\"2026-01-01T00:00:00\"}] | /0/generatedAt format",
        "UsageEvent       | {\"eventName\":\"n\",\"customerId\":\"c\",\"generatedAt\":\"2026-01-01T00:00:00Z\",\"data\":[]} | /data type",
      })
  void everyKindOfFaultHasItsCodeAndPlace(String schema, String json, String fault) {
    assertThat(faults(external, schema, json)).containsExactly(fault.replace("''", ""));
  }

  @Test
  void nullIsNamedByTypeAlone() {
    List<Fault> faults =
        external.check("NewSubscription", tree("{\"customerId\":null,\"planId\":\"p\"}"));

    assertThat(faults).containsExactly(Fault.at("/customerId", "type", "Must be a string."));
  }

  @Test
  void messagesSayWhatIsExpected() {
    List<Fault> faults =
        external.check(
            "CustomerInput",
            tree("{\"email\":\"x\",\"billingZipCode\":\"1\",\"name\":3,\"nmae\":\"\"}"),
            "/17");

    assertThat(faults)
        .containsExactlyInAnyOrder(
            Fault.at("/17/externalId", "required", "This property is required."),
            Fault.at("/17/nmae", "unknown_property", "There is no such property."),
            Fault.at("/17/name", "type", "Must be a string or null."),
            Fault.at("/17/email", "pattern", "Must be an e-mail address such as ada@example.com."),
            Fault.at(
                "/17/billingZipCode",
                "pattern",
                "Must be 5 digits, or 5 digits, a hyphen and 4 digits."));
  }

  @Test
  void textOverItsLengthIsRefused() {
    assertThat(customer("\"billingCity\":\"" + "x".repeat(8192) + "\"")).isEmpty();
    assertThat(customer("\"name\":\"" + "x".repeat(512) + "\"")).isEmpty();
    assertThat(names(external.check("CustomerInput", long8193())))
        .containsExactly("/externalId max_length");
  }

  private static Map<String, Object> long8193() {
    return Map.of("externalId", "x".repeat(8193));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "1234",
        "123456",
        "12345-",
        "12345-123",
        "12345\\n",
        "12345-6789\\n",
        " 12345",
        "",
        "١٢٣٤٥",
        "１２３４５",
        "1234a",
        "12345 6789"
      })
  void zipCodesAreAsciiDigitsAndNothingElse(String zip) {
    assertThat(customer("\"shippingZipCode\":\"" + zip + "\""))
        .containsExactly("/shippingZipCode pattern");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "a@b",
        " a@b.c",
        "a@b.c ",
        "a@b..cc",
        "a@.b.cc",
        "a@b.cc.",
        "a@b@c.dd",
        "a@b.cc@",
        "@b.cc",
        "a@",
        "a",
        "a@b.cc\\n",
        "a\\n@b.cc",
        "a..b@c.dd",
        ".a@b.cc",
        "a.@b.cc",
        "a b@c.dd",
        "a@b.c",
        "a@1.2.3.4",
        "a@-b.cc",
        "a@b-.cc",
        "a@b.cc,d@e.ff",
        "<a@b.cc>",
        "\\\"a\\\"@b.cc",
        "ä@b.cc",
        "a@ä.cc",
        "a@[127.0.0.1]"
      })
  void whatIsNoEmailAddressIsRefused(String email) {
    assertThat(customer("\"email\":\"" + email + "\"")).containsExactly("/email pattern");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "a@b.cc",
        "ada+billing@mail.example.com",
        "a.b-c_d@x-y.example.co.uk",
        "o'hara@b.org",
        "1@2.example",
        "a@xn--bcher-kva.example",
        "!#$%&*/=?^`{|}~@b.cc"
      })
  void emailAddressesAreTaken(String email) {
    assertThat(customer("\"email\":\"" + email + "\"")).isEmpty();
  }

  @Test
  void anEmailAddressHasBoundsAndNoInputOverflowsThePattern() {
    String local = "a".repeat(64);
    String domain = "d".repeat(63) + "." + "d".repeat(63) + ".example";

    assertThat(customer("\"email\":\"" + local + "@" + domain + "\"")).isEmpty();
    assertThat(customer("\"email\":\"a" + local + "@" + domain + "\""))
        .containsExactly("/email pattern");
    assertThat(customer("\"email\":\"" + "a.".repeat(4000) + "\""))
        .containsExactly("/email max_length");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "2026-02-30T00:00:00Z",
        "2026-01-01T24:00:00Z",
        "2026-01-01T00:00:60Z",
        "2026-01-01T00:00:00",
        "2026-01-01 00:00:00Z",
        "2026-01-01T00:00Z",
        "2026-01-01",
        "2026-01-01T00:00:00Z\\n",
        "20260101T000000Z",
        "2026-01-01T00:00:00+19:00",
        "2026-01-01T00:00:00.Z",
        "1999-12-31T23:59:59.999Z",
        "2100-01-01T00:00:00Z",
        "2000-01-01T00:00:00+00:01",
        "",
        "٢٠٢٦-01-01T00:00:00Z"
      })
  void whatIsNoInstantOfAnEventIsRefused(String text) {
    assertThat(names(external.check("UsageEvent", eventAt(text))))
        .containsExactly("/generatedAt format");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "2026-01-01T00:00:00Z", "2026-01-01t00:00:00.123456789z", "2024-02-29T23:59:59+05:30",
        "2000-01-01T00:00:00Z", "1999-12-31T23:30:00-00:30", "2099-12-31T23:59:59.999Z",
        "2026-01-01T00:00:00-00:00"
      })
  void instantsOfEventsAreTaken(String text) {
    assertThat(external.check("UsageEvent", eventAt(text))).isEmpty();
  }

  private static Object eventAt(String text) {
    return tree("{\"customerId\":\"c\",\"eventName\":\"n\",\"generatedAt\":\"" + text + "\"}");
  }

  @ParameterizedTest
  @CsvSource({
    "2026-02-01, true",
    "2026-02-01T00:00:00Z, true",
    "2026-02-29, false",
    "2026-02-01T00:00:00, false",
    "2026-2-1, false",
  })
  void aStartIsADateOrADateTime(String text, boolean fits) {
    List<Fault> faults =
        external.check(
            "NewSubscription",
            tree("{\"customerId\":\"c\",\"planId\":\"p\",\"startDate\":\"" + text + "\"}"));

    assertThat(faults)
        .isEqualTo(
            fits
                ? List.of()
                : List.of(
                    Fault.at(
                        "/startDate",
                        "format",
                        "Must be a date-time with a time zone, or a date.")));
  }

  @ParameterizedTest
  @CsvSource({
    "https://app.example.com/done?x=1#y, true",
    "HTTP://localhost:3000/, true",
    "https://app.example.com/?s={CHECKOUT_SESSION_ID}, true",
    "/done, false",
    "//host/done, false",
    "https:done, false",
    "https:///done, false",
    "ftp://host/, false",
    "https://host:99999/, false",
    "https://ho st/, false",
    "https://host/{other}, false",
  })
  void onlyAbsoluteWebAddressesAreTaken(String url, boolean fits) {
    assertThat(external.check("SetupSessionBody", Map.of("successUrl", url)).isEmpty())
        .isEqualTo(fits);
  }

  @Test
  void itemsOfAnArrayAreNamedByTheirIndex() {
    List<Object> items = new ArrayList<>(Collections.nCopies(1000, tree("{\"externalId\":\"a\"}")));
    items.set(17, tree("{\"externalId\":\"a\",\"email\":\"x\"}"));
    items.set(999, 7);

    assertThat(names(external.checkEach("CustomerInput", items)))
        .containsExactly("/17/email pattern", "/999 type");
    assertThat(names(external.check("CustomerBatch", items)))
        .containsExactly("/17/email pattern", "/999 type");
  }

  @Test
  void aBodyOfUnknownPropertiesOnlyIsCutOff() {
    Map<String, Object> object = new LinkedHashMap<>();
    for (int i = 0; i < 50_000; i++) {
      object.put("k" + i, i);
    }

    assertThat(external.check("CancelBody", object)).hasSize(StrictJson.FAULTS_MAX);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "CreateMerchant    | {\"name\":\"m\",\"environment\":\"prod\"}        | /environment enum",
        "CreateApiKey      | {\"type\":\"secret\",\"scope\":1}                | /scope unknown_property",
        "GatewayConnection | {\"kind\":\"http\",\"secret\":\"s\"}             | /baseUrl required",
        "GatewayConnection | {\"kind\":\"sandbox\",\"secret\":\"s\"}          | /secret unknown_property",
        "GatewayConnection | {}                                               | /kind required",
        "Clock             | {\"now\":\"soon\"}                               | /now format",
        "Allocation        | {\"customPricingUnitId\":\"c\",\"amount\":0}     | /amount minimum",
        "PrivatePlan       | {}                                               | /planId required",
        "Catalog           | {\"plans\":[],\"planes\":[]}                     | /planes unknown_property",
        "CatalogPlan       | {\"externalId\":\"p\",\"name\":\"P\",\"trialDays\":4000}              | /trialDays maximum",
        "CatalogPlan       | {\"externalId\":\"p\",\"name\":\"P\",\"trialDays\":1.5}               | /trialDays type",
        "CatalogPlan       | {\"externalId\":\"p\",\"name\":\"P\",\"basePrices\":{\"weekly\":1}}   | /basePrices/weekly unknown_property",
        "CatalogRules      | {\"conditions\":[],\"calculation\":\"sum\"}      | /overProperty required",
        "CatalogRules      | {\"conditions\":[[]],\"calculation\":\"count\"}  | /conditions/0 min_items",
        "CatalogCondition  | {\"key\":\"data.x\",\"rule\":\"in\",\"value\":\"a\"}                  | /value type",
        "CatalogCondition  | {\"key\":\"data.x\",\"rule\":\"in\",\"value\":[1]}                    | /value/0 type",
        "CatalogCondition  | {\"key\":\"data.x\",\"rule\":\"exists\",\"value\":\"a\"}              | /value unknown_property",
        "CatalogCondition  | {\"key\":\"data.x\",\"rule\":\"gt\"}             | /value required",
        "CatalogCondition  | {\"key\":\"x\",\"rule\":\"exists\"}              | /key pattern",
      })
  void theOperatorsFaultsAreNamedToo(String schema, String json, String fault) {
    assertThat(faults(operator, schema, json)).containsExactly(fault);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "unit   | {\"quantity\":1,\"price\":0.002}                            | ",
        "bulk   | {\"quantity\":0,\"price\":-1}                               | /rules/quantity minimum,/rules/price minimum",
        "unit   | {\"quantity\":1,\"tiers\":[]}                               | /rules/price required,/rules/tiers unknown_property",
        "tiered | {\"quantity\":1,\"tiers\":[{\"upTo\":5,\"price\":1},{\"upTo\":null,\"price\":0.5}]} | ",
        "volume | {\"quantity\":1,\"price\":1,\"tiers\":[]}                   | /rules/price unknown_property,/rules/tiers min_items",
        "volume | {\"quantity\":1,\"tiers\":[{\"cost\":1}]}                   | /rules/tiers/0/price required,/rules/tiers/0/cost unknown_property",
        "flat   | {}                                                          | /priceType enum",
      })
  void theRulesOfAPriceDependOnItsType(String type, String rules, String expected) {
    List<String> faults =
        faults(
            operator,
            "CatalogPrice",
            """
            {"name":"n","billable":"b","billingMode":"arrears","priceType":"%s","rules":%s}"""
                .formatted(type, rules));

    assertThat(faults)
        .containsExactlyInAnyOrder(expected == null ? new String[0] : expected.split(","));
  }

  @Test
  void aPriceInUnitsNamesItsUnit() {
    String price =
        """
        {"name":"n","billable":"b","billingMode":"arrears","priceType":"unit",
         "rules":{"quantity":1,"price":1},%s}""";

    assertThat(faults(operator, "CatalogPrice", price.formatted("\"usesCustomPricingUnit\":true")))
        .containsExactly("/customPricingUnit required");
    assertThat(
            faults(operator, "CatalogPrice", price.formatted("\"customPricingUnit\":\"credits\"")))
        .containsExactly("/usesCustomPricingUnit required");
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "Plan         | \"basePlanPrice\":{\"name\":3}  | /basePlanPrice/name type",
        "Plan         | \"basePlanPrice\":7              | /basePlanPrice type",
        "ExpandedPlan | \"prices\":[{\"price\":{\"rules\":{\"quantity\":0}}}] | /prices/0/price/rules/quantity minimum",
      })
  void faultsBelowWhatMayBeNullAreNamedToo(String schema, String member, String fault) {
    assertThat(faults(external, schema, "{" + member + "}"))
        .contains(fault)
        .filteredOn(named -> named.startsWith(fault.substring(0, fault.indexOf(' ') + 1)))
        .hasSize(1);
  }

  /** Whatever vertx-json-schema refuses has a name: FaultNaming throws where it finds none. */
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3})
  void everyRefusedTreeHasFaultsInDistinctPlaces(long seed) {
    Random random = new Random(seed);
    for (Schemas document : List.of(EXTERNAL, OPERATOR)) {
      Validator validator = document.validator();
      Map<?, ?> schemas =
          (Map<?, ?>)
              ((Map<?, ?>) Json.readMap(document.json().toString()).get("components"))
                  .get("schemas");
      List<String> words = words(schemas);
      for (Object name : schemas.keySet()) {
        for (int i = 0; i < 20; i++) {
          List<Fault> faults = validator.check((String) name, anything(random, words, 4));
          assertThat(faults).extracting(Fault::pointer).doesNotHaveDuplicates();
        }
      }
    }
  }

  private static List<String> words(Object node) {
    Set<String> words = new TreeSet<>(Set.of("", "2026-01-01T00:00:00Z", "a/b~"));
    collect(node, words);
    return List.copyOf(words);
  }

  private static void collect(Object node, Set<String> words) {
    if (node instanceof Map<?, ?> map) {
      if (map.get("properties") instanceof Map<?, ?> properties) {
        properties.keySet().forEach(name -> words.add((String) name));
      }
      if (map.get("enum") instanceof List<?> values) {
        values.stream().filter(String.class::isInstance).forEach(text -> words.add((String) text));
      }
      map.values().forEach(child -> collect(child, words));
    } else if (node instanceof List<?> list) {
      list.forEach(child -> collect(child, words));
    }
  }

  private static Object anything(Random random, List<String> words, int depth) {
    int kind = random.nextInt(depth == 0 ? 5 : 12);
    if (kind >= 7) {
      Map<String, Object> object = new LinkedHashMap<>();
      for (int i = random.nextInt(40); i > 0; i--) {
        object.put(words.get(random.nextInt(words.size())), anything(random, words, depth - 1));
      }
      return object;
    }
    if (kind >= 5) {
      List<Object> items = new ArrayList<>();
      for (int i = random.nextInt(3); i > 0; i--) {
        items.add(anything(random, words, depth - 1));
      }
      return items;
    }
    return switch (kind) {
      case 0 -> null;
      case 1 -> random.nextBoolean();
      case 2 -> random.nextInt(-1, 3);
      case 3 -> new BigDecimal("0.5");
      default -> words.get(random.nextInt(words.size()));
    };
  }

  @Test
  void validatorsShareNothingThatChanges() {
    Validator first = EXTERNAL.validator();
    Buffer before = EXTERNAL.json();

    first.check("CustomerInput", tree("{\"externalId\":\"a\"}"));
    first.check("EventBody", tree("[{}]"));

    assertThat(EXTERNAL.json()).isEqualTo(before);
    assertThat(names(EXTERNAL.validator().check("CustomerInput", tree("{}"))))
        .containsExactly("/externalId required");
  }

  @Test
  void aSchemaThatTheDocumentLacksIsAMistakeOfOurs() {
    assertThatThrownBy(() -> external.check("Nothing", Map.of()))
        .isInstanceOf(IllegalArgumentException.class);
  }
}

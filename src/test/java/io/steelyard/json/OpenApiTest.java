package io.steelyard.json;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.steelyard.bus.Failure;
import io.steelyard.catalog.CatalogDocument;
import io.steelyard.catalog.CatalogMessages;
import io.steelyard.credit.CreditMessages;
import io.steelyard.customer.CustomerMessages;
import io.steelyard.domain.Actor;
import io.steelyard.domain.BillingCadence;
import io.steelyard.domain.BillingMode;
import io.steelyard.domain.Calculation;
import io.steelyard.domain.CatalogStatus;
import io.steelyard.domain.Currency;
import io.steelyard.domain.Environment;
import io.steelyard.domain.InvoiceStatus;
import io.steelyard.domain.KeyType;
import io.steelyard.domain.NetTerms;
import io.steelyard.domain.PaymentGateway;
import io.steelyard.domain.PriceType;
import io.steelyard.domain.SubscriptionStatus;
import io.steelyard.domain.TransactionType;
import io.steelyard.domain.WireName;
import io.steelyard.gateway.GatewayMessages;
import io.steelyard.invoice.InvoiceMessages;
import io.steelyard.merchant.MerchantMessages;
import io.steelyard.subscription.SubscriptionMessages;
import io.steelyard.usage.ExplainMessages;
import io.steelyard.usage.RetentionMessages;
import io.steelyard.usage.UsageMessages;
import java.lang.reflect.RecordComponent;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.BiConsumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** Keeps the documents, the records and the enums of the code from drifting apart. */
class OpenApiTest {
  private static final Set<String> METHODS = Set.of("get", "put", "post", "delete", "patch");

  enum Document {
    EXTERNAL(Schemas.external()),
    OPERATOR(Schemas.operator());

    final Schemas schemas;
    final Map<String, Object> root;

    Document(Schemas schemas) {
      this.schemas = schemas;
      this.root = Json.readMap(schemas.json().toString());
    }

    Object at(String pointer) {
      Object node = root;
      for (String segment : pointer.substring(2).split("/")) {
        String name = segment.replace("~1", "/").replace("~0", "~");
        node =
            node instanceof List<?> list
                ? list.get(Integer.parseInt(name))
                : ((Map<?, ?>) node).get(name);
      }
      return node;
    }

    Map<?, ?> schemas() {
      return (Map<?, ?>) at("#/components/schemas");
    }

    Map<?, ?> schema(String name) {
      return (Map<?, ?>) schemas().get(name);
    }

    Map<?, ?> paths() {
      return (Map<?, ?>) root.get("paths");
    }

    /** Every object of the document with where it is. */
    void walk(BiConsumer<String, Map<?, ?>> visit) {
      walk("#", root, visit);
    }

    private static void walk(String at, Object node, BiConsumer<String, Map<?, ?>> visit) {
      if (node instanceof Map<?, ?> map) {
        visit.accept(at, map);
        map.forEach((name, value) -> walk(at + '/' + name, value, visit));
      } else if (node instanceof List<?> list) {
        for (int i = 0; i < list.size(); i++) {
          walk(at + '/' + i, list.get(i), visit);
        }
      }
    }
  }

  private static Set<String> operations(Document document) {
    Set<String> operations = new TreeSet<>();
    document
        .paths()
        .forEach(
            (path, item) ->
                ((Map<?, ?>) item).keySet().forEach(method -> operations.add(method + " " + path)));
    return operations;
  }

  @Test
  void everyOperationOfTheExternalApiIsDescribed() {
    assertThat(Document.EXTERNAL.root).containsEntry("openapi", "3.1.0");
    assertThat((Map<?, ?>) Document.EXTERNAL.root.get("info"))
        .extracting("version")
        .isEqualTo("1.0.0");
    assertThat(operations(Document.EXTERNAL))
        .containsExactlyInAnyOrder(
            "post /external/customers",
            "post /external/customers/upsert/bulk",
            "get /external/customers/{id}",
            "get /external/customers",
            "get /external/customers/external-id/{externalId}/transactions",
            "get /external/customers/external-id/{externalId}/customPricingUnits"
                + "/{customPricingUnitId}/usage",
            "post /external/customers/external-id/{externalId}/card-gateway/checkout-sessions"
                + "/setup",
            "post /external/subscriptions/bulk",
            "get /external/subscriptions/{id}",
            "get /external/subscriptions/{id}/expanded",
            "get /external/subscriptions/{id}/upcoming-invoice",
            "get /external/subscriptions",
            "post /external/subscriptions/{id}/cancel",
            "post /external/subscriptions/{id}/renew",
            "delete /external/subscriptions/{id}",
            "get /external/invoices/{invoiceId}/with-line-items",
            "get /external/invoices/{invoiceId}/line-items/{lineItemId}/events",
            "post /external/event/",
            "post /external/event");
  }

  @Test
  void everyOperationOfTheOperatorApiIsDescribed() {
    String merchant = "/operator/merchants/{id}";
    assertThat(operations(Document.OPERATOR))
        .containsExactlyInAnyOrder(
            "post /operator/merchants",
            "get /operator/merchants",
            "post " + merchant + "/api-keys",
            "get " + merchant + "/api-keys",
            "delete " + merchant + "/api-keys/{keyId}",
            "put " + merchant + "/catalog",
            "get " + merchant + "/catalog",
            "put " + merchant + "/gateway-connections/{gateway}",
            "delete " + merchant + "/gateway-connections/{gateway}",
            "post " + merchant + "/sandbox/checkout-sessions/{sessionId}/complete",
            "put " + merchant + "/clock",
            "post " + merchant + "/customers/{customerId}/private-plans",
            "post " + merchant + "/customers/{customerId}/allocations",
            "get " + merchant + "/invoices",
            "get " + merchant + "/invoices/{invoiceId}",
            "get " + merchant + "/invoices/{invoiceId}/transitions",
            "post " + merchant + "/invoices/{invoiceId}/collect",
            "post " + merchant + "/invoices/{invoiceId}/pay",
            "post " + merchant + "/invoices/{invoiceId}/sandbox-payment",
            "post " + merchant + "/invoices/{invoiceId}/send",
            "post " + merchant + "/invoices/{invoiceId}/sync",
            "post " + merchant + "/invoices/{invoiceId}/uncollectible",
            "post " + merchant + "/invoices/{invoiceId}/void",
            "put " + merchant + "/gateway-connections/{gateway}/sandbox-behavior",
            "post " + merchant + "/subscriptions/{subscriptionId}/resume",
            "post " + merchant + "/subscriptions/{subscriptionId}/rebill",
            "get " + merchant + "/integrity",
            "get /operator/events/months",
            "delete /operator/events/months/{month}");
  }

  @Test
  void bothEventPathsAreTheSameButForTheirNames() {
    Map<?, ?> with = operation("/external/event/");
    Map<?, ?> without = operation("/external/event");

    assertThat(with.get("requestBody")).isEqualTo(without.get("requestBody"));
    assertThat(with.get("responses")).isEqualTo(without.get("responses"));
  }

  private static Map<?, ?> operation(String path) {
    return (Map<?, ?>) ((Map<?, ?>) Document.EXTERNAL.paths().get(path)).get("post");
  }

  @ParameterizedTest
  @EnumSource
  void operationsHaveUniqueNamesAndSayWhatTheyAnswer(Document document) {
    List<Object> names = new ArrayList<>();
    document
        .paths()
        .forEach(
            (path, item) ->
                ((Map<?, ?>) item)
                    .forEach(
                        (method, described) -> {
                          Map<?, ?> operation = (Map<?, ?>) described;
                          assertThat(METHODS).contains((String) method);
                          names.add(operation.get("operationId"));
                          assertThat(operation.get("summary")).as("%s", path).isNotNull();
                          assertThat(statuses(operation))
                              .as("%s", path)
                              .contains("400", "401", "500", "503");
                          assertThat(pathParameters(document, operation))
                              .as("%s", path)
                              .isEqualTo(placeholders((String) path));
                          if (operation.containsKey("requestBody")) {
                            assertThat(statuses(operation)).contains("400", "413", "415");
                          }
                        }));
    assertThat(names).doesNotHaveDuplicates().doesNotContainNull();
  }

  private static Set<String> statuses(Map<?, ?> operation) {
    Set<String> statuses = new TreeSet<>();
    ((Map<?, ?>) operation.get("responses"))
        .keySet()
        .forEach(status -> statuses.add((String) status));
    return statuses;
  }

  /** A merchant's limits are counted once it is known who asks, and the operator has none. */
  @ParameterizedTest
  @EnumSource
  void everyAnswerTellsOfTheLimitsThatWereCountedForIt(Document document) {
    Set<String> told = new TreeSet<>(Set.of("x-request-id"));
    if (document == Document.EXTERNAL) {
      told.addAll(Set.of("RateLimit", "RateLimit-Policy"));
    }
    document
        .paths()
        .forEach(
            (path, item) ->
                ((Map<?, ?>) item)
                    .forEach(
                        (method, operation) ->
                            ((Map<?, ?>) ((Map<?, ?>) operation).get("responses"))
                                .forEach(
                                    (status, response) ->
                                        assertThat(headers(document, (Map<?, ?>) response))
                                            .as(method + " " + path + " " + status)
                                            .isEqualTo(
                                                expected(
                                                    (String) status,
                                                    told,
                                                    (Map<?, ?>) operation)))));
  }

  private static Set<String> expected(String status, Set<String> told, Map<?, ?> operation) {
    Set<String> expected =
        new TreeSet<>(Set.of("401", "403").contains(status) ? Set.of("x-request-id") : told);
    if (Set.of("429", "503").contains(status)) {
      expected.add("Retry-After");
    }
    if (takesKey(operation)) {
      if (status.startsWith("2")) {
        expected.add("Idempotent-Replayed");
      } else if (status.equals("409")) {
        expected.add("Retry-After");
      }
    }
    return expected;
  }

  private static boolean takesKey(Map<?, ?> operation) {
    return operation.get("parameters") instanceof List<?> parameters
        && parameters.contains(Map.of("$ref", "#/components/parameters/IdempotencyKey"));
  }

  /** Events, and what reaches a state that is the same when it is reached twice, need none. */
  @Test
  void whatCreatesTakesAnIdempotencyKeyAndSaysWhatItMayAnswerToOne() {
    Set<Object> taking = new LinkedHashSet<>();
    for (Document document : Document.values()) {
      document.walk(
          (at, node) -> {
            if (node.containsKey("operationId") && takesKey(node)) {
              taking.add(node.get("operationId"));
              assertThat(statuses(node)).as(at).contains("400", "409", "422");
            }
          });
    }
    assertThat(taking)
        .containsExactlyInAnyOrder(
            "createCustomer",
            "upsertCustomers",
            "createSetupSession",
            "createSubscriptions",
            "createMerchant",
            "createApiKey",
            "allocate",
            "payInvoice",
            "voidInvoice",
            "writeOffInvoice");
  }

  private static Set<String> headers(Document document, Map<?, ?> response) {
    Object reference = response.get("$ref");
    Map<?, ?> described =
        reference == null ? response : (Map<?, ?>) document.at(reference.toString());
    return new TreeSet<>(names(described.get("headers")));
  }

  private static Set<String> placeholders(String path) {
    Set<String> names = new TreeSet<>();
    for (String segment : path.split("/")) {
      if (segment.startsWith("{")) {
        names.add(segment.substring(1, segment.length() - 1));
      }
    }
    return names;
  }

  private static Set<String> pathParameters(Document document, Map<?, ?> operation) {
    Set<String> names = new TreeSet<>();
    if (operation.get("parameters") instanceof List<?> parameters) {
      for (Object reference : parameters) {
        Map<?, ?> parameter = (Map<?, ?>) document.at((String) ((Map<?, ?>) reference).get("$ref"));
        if (parameter.get("in").equals("path")) {
          assertThat(parameter.get("required")).isEqualTo(true);
          names.add((String) parameter.get("name"));
        }
      }
    }
    return names;
  }

  @ParameterizedTest
  @EnumSource
  void everyReferenceLeadsSomewhere(Document document) {
    Set<Object> references = new LinkedHashSet<>();
    document.walk(
        (at, node) -> {
          if (node.get("$ref") instanceof String reference) {
            references.add(reference);
            assertThat(document.at(reference)).as(at + " -> " + reference).isNotNull();
          }
        });
    assertThat(references).hasSizeGreaterThan(50);
  }

  @ParameterizedTest
  @EnumSource
  void everyComponentIsUsed(Document document) {
    Set<String> unused = new TreeSet<>();
    for (String kind : List.of("schemas", "parameters", "responses", "headers")) {
      ((Map<?, ?>) document.at("#/components/" + kind))
          .keySet()
          .forEach(name -> unused.add("#/components/" + kind + "/" + name));
    }
    document.walk((at, node) -> unused.remove(String.valueOf(node.get("$ref"))));

    assertThat(unused).isEmpty();
  }

  @ParameterizedTest
  @EnumSource
  void everyExampleFitsItsSchema(Document document) {
    Validator validator = document.schemas.validator();
    int[] checked = {0};
    document.walk(
        (at, node) -> {
          List<Object> values = new ArrayList<>();
          if (node.containsKey("example")) {
            values.add(node.get("example"));
          }
          if (node.get("examples") instanceof Map<?, ?> named) {
            named.values().forEach(example -> values.add(((Map<?, ?>) example).get("value")));
          }
          for (Object value : values) {
            checked[0]++;
            assertThat(check(validator, (Map<?, ?>) node.get("schema"), value)).as(at).isEmpty();
          }
        });
    assertThat(checked[0]).isGreaterThan(20);
  }

  private static List<Failure.Fault> check(Validator validator, Map<?, ?> schema, Object value) {
    return "array".equals(schema.get("type"))
        ? validator.checkEach(component((Map<?, ?>) schema.get("items")), (List<?>) value)
        : validator.check(component(schema), value);
  }

  private static String component(Map<?, ?> reference) {
    return ((String) reference.get("$ref")).substring("#/components/schemas/".length());
  }

  @ParameterizedTest
  @EnumSource
  void everyExampleOfAComponentFitsIt(Document document) {
    Validator validator = document.schemas.validator();
    document
        .schemas()
        .forEach(
            (name, schema) -> {
              if (((Map<?, ?>) schema).get("examples") instanceof List<?> examples) {
                examples.forEach(
                    example ->
                        assertThat(validator.check((String) name, example))
                            .as("%s", name)
                            .isEmpty());
              }
            });
  }

  @ParameterizedTest
  @EnumSource
  void everyObjectIsStrict(Document document) {
    Set<String> free = new TreeSet<>();
    document.walk(
        (at, node) -> {
          if (at.startsWith("#/components/schemas/")
              && "object".equals(node.get("type"))
              && !Boolean.FALSE.equals(node.get("additionalProperties"))) {
            free.add(at.substring("#/components/schemas/".length()));
          }
        });

    assertThat(free)
        .isSubsetOf(
            "UsageEvent/properties/data",
            "CheckoutSession/properties/metadata",
            // Its shape follows from the price type, beside it.
            "CatalogPrice/properties/rules");
  }

  @Test
  void whatBothDocumentsDescribeTheyDescribeAlike() {
    Map<?, ?> external = Document.EXTERNAL.schemas();
    Map<?, ?> operator = Document.OPERATOR.schemas();
    Set<Object> common = new LinkedHashSet<>(external.keySet());
    common.retainAll(operator.keySet());
    common.remove("InvoicePage");

    assertThat(common).hasSizeGreaterThan(10).contains("Problem", "CheckoutSession");
    common.forEach(
        name -> assertThat(external.get(name)).as("%s", name).isEqualTo(operator.get(name)));
  }

  static Stream<Arguments> records() {
    return Stream.of(
        view("Customer", CustomerMessages.CustomerView.class),
        view("CreatedCustomer", CustomerMessages.CreatedCustomer.class),
        view("CustomerPage", CustomerMessages.CustomerPage.class),
        view("ConditionalBillableAccess", CustomerMessages.AccessView.class),
        view("CustomPricingUnitBalance", CustomerMessages.UnitBalance.class),
        view("CustomerPrivatePlan", CustomerMessages.PrivatePlan.class),
        view("Subscription", SubscriptionMessages.SubscriptionView.class, "plan"),
        view("SubscriptionWithPlan", SubscriptionMessages.SubscriptionView.class),
        view("ExpandedSubscription", SubscriptionMessages.SubscriptionView.class),
        view("SubscriptionPage", SubscriptionMessages.SubscriptionPage.class),
        view("CancelledSubscription", SubscriptionMessages.SubscriptionCancelled.class),
        view("NewSubscription", SubscriptionMessages.NewSubscription.class),
        view(
            "Plan",
            CatalogMessages.PlanView.class,
            "basePlanPriceQuarterly",
            "basePlanPriceAnnually",
            "prices"),
        view("ExpandedPlan", CatalogMessages.PlanView.class),
        view("PlanPrice", CatalogMessages.PlanPrice.class),
        view("Price", CatalogMessages.PriceView.class, "billable"),
        view("ExpandedPrice", CatalogMessages.PriceView.class),
        view("Billable", CatalogMessages.BillableView.class),
        view("Invoice", InvoiceMessages.InvoiceView.class, "total"),
        view("InvoiceLineItem", InvoiceMessages.LineItemView.class),
        view("UpcomingInvoice", InvoiceMessages.InvoiceView.class, "total"),
        view("UpcomingLineItem", InvoiceMessages.LineItemView.class),
        view("LineItemDetails", InvoiceMessages.LineDetails.class),
        view("LineItemPrice", InvoiceMessages.LinePrice.class),
        view("LineItemBillable", InvoiceMessages.LineBillable.class),
        view("LineItemEvent", ExplainMessages.LineEvent.class),
        view("LineItemEventPage", ExplainMessages.LineEventPage.class),
        view("Transaction", CreditMessages.TransactionView.class),
        view("TransactionBillable", CreditMessages.BillableRef.class),
        view("AllocationBlock", CreditMessages.BlockRef.class),
        view("CustomPricingUnitName", CreditMessages.UnitRef.class),
        view("InvoiceReference", CreditMessages.InvoiceRef.class),
        view("SubscriptionReference", CreditMessages.SubscriptionRef.class),
        view("PlanName", CreditMessages.PlanRef.class),
        view("TransactionPage", CreditMessages.TransactionPage.class),
        view("CustomPricingUnitUsage", CreditMessages.UnitUsageView.class),
        view("NextExpiring", CreditMessages.NextExpiring.class),
        view("CheckoutSession", GatewayMessages.CheckoutSession.class),
        view("IngestedEvents", UsageMessages.Ingested.class),
        view("Fault", Failure.Fault.class),
        operator("MerchantCreated", MerchantMessages.MerchantCreated.class),
        operator("Merchant", MerchantMessages.MerchantView.class),
        operator("MerchantPage", MerchantMessages.MerchantPage.class),
        operator("ApiKey", MerchantMessages.ApiKeyView.class),
        operator("ApiKeyCreated", MerchantMessages.ApiKeyCreated.class),
        operator("ApiKeySummary", MerchantMessages.ApiKeySummary.class),
        operator("ApiKeyPage", MerchantMessages.ApiKeyPage.class),
        operator("CreateMerchant", MerchantMessages.CreateMerchant.class),
        operator("CreateApiKey", MerchantMessages.CreateApiKey.class),
        operator("ClockSet", MerchantMessages.ClockSet.class),
        operator("Catalog", CatalogDocument.class),
        operator("CatalogUnit", CatalogDocument.Unit.class),
        operator("CatalogBillable", CatalogDocument.Billable.class),
        operator("CatalogRules", CatalogDocument.Rules.class),
        operator("CatalogCondition", CatalogDocument.Condition.class),
        operator("CatalogPlan", CatalogDocument.Plan.class),
        operator("CatalogBasePrices", CatalogDocument.BasePrices.class),
        operator("CatalogPrice", CatalogDocument.Price.class),
        operator("CatalogAllocation", CatalogDocument.Allocation.class),
        operator("CatalogApplied", CatalogMessages.CatalogApplied.class),
        operator("UnitReference", CatalogMessages.UnitRef.class),
        operator("BillableReference", CatalogMessages.BillableRef.class),
        operator("PlanReference", CatalogMessages.PlanRef.class),
        operator("PriceReference", CatalogMessages.PriceRef.class),
        operator("CatalogChange", CatalogMessages.Change.class),
        operator("GatewayConnection", GatewayMessages.ConnectGateway.class, "gateway"),
        operator("GatewayConnectionView", GatewayMessages.ConnectionView.class),
        operator("PrivatePlanGranted", CustomerMessages.PrivatePlanGranted.class),
        operator("Allocation", CreditMessages.Allocate.class, "customerId"),
        operator("Allocated", CreditMessages.Allocated.class),
        operator("InvoiceSummary", InvoiceMessages.InvoiceView.class, "invoiceLineItems"),
        operator("InvoicePage", InvoiceMessages.InvoicePage.class),
        operator("InvoiceWithLines", InvoiceMessages.InvoiceView.class),
        operator("InvoiceTransition", InvoiceMessages.TransitionView.class),
        operator("InvoiceTransitionPage", InvoiceMessages.TransitionPage.class),
        operator("PaymentRecord", InvoiceMessages.RecordPayment.class, "id"),
        operator("InvoiceChange", InvoiceMessages.VoidInvoice.class, "id"),
        operator("SandboxBehavior", GatewayMessages.SetSandboxBehavior.class, "gateway"),
        operator("SandboxBehaviorView", GatewayMessages.SandboxBehaviorView.class),
        operator("EventMonthList", RetentionMessages.EventMonthList.class),
        operator("EventMonth", RetentionMessages.EventMonth.class),
        operator("EventMonthNeed", RetentionMessages.Need.class),
        operator("SandboxPayment", GatewayMessages.CompleteSandboxPayment.class, "invoiceId"));
  }

  private static Arguments view(String schema, Class<?> type, String... without) {
    return Arguments.of(Document.EXTERNAL, schema, type, List.of(without));
  }

  private static Arguments operator(String schema, Class<?> type, String... without) {
    return Arguments.of(Document.OPERATOR, schema, type, List.of(without));
  }

  @ParameterizedTest
  @MethodSource("records")
  void aRecordAndItsSchemaHaveTheSameMembers(
      Document document, String schema, Class<?> type, List<String> without) {
    List<String> components =
        Arrays.stream(type.getRecordComponents())
            .map(RecordComponent::getName)
            .filter(name -> !without.contains(name))
            .toList();

    assertThat(names(document.schema(schema).get("properties")))
        .containsExactlyInAnyOrderElementsOf(components);
  }

  /** Of an answer, a member is missing only where the record leaves it out when it is null. */
  @ParameterizedTest
  @MethodSource("records")
  void anAnswerAlwaysHasEveryMemberThatItsRecordWrites(
      Document document, String schema, Class<?> type, List<String> without) {
    if (type.isAnnotationPresent(JsonInclude.class) || !isAnswer(schema)) {
      return;
    }
    Set<String> optional = new TreeSet<>();
    for (RecordComponent component : type.getRecordComponents()) {
      if (component.getAccessor().isAnnotationPresent(JsonInclude.class)) {
        optional.add(component.getName());
      }
    }
    Set<String> missing = new TreeSet<>(names(document.schema(schema).get("properties")));
    missing.removeAll((List<?>) document.schema(schema).get("required"));

    assertThat(optional).containsAll(missing);
  }

  private static boolean isAnswer(String schema) {
    return !Set.of(
            "NewSubscription",
            "CreateMerchant",
            "CreateApiKey",
            "GatewayConnection",
            "Allocation",
            "PaymentRecord",
            "InvoiceChange",
            "SandboxBehavior",
            "SandboxPayment",
            "Fault")
        .contains(schema);
  }

  @Test
  void theWritableFieldsOfACustomerAreTheDocumentedOnes() {
    assertThat(names(Document.EXTERNAL.schema("CustomerInput").get("properties")))
        .containsExactlyElementsOf(CustomerMessages.CustomerInput.FIELDS);
  }

  private static List<String> names(Object properties) {
    return ((Map<?, ?>) properties).keySet().stream().map(String.class::cast).toList();
  }

  static Stream<Arguments> enums() {
    return Stream.of(
        values(Actor.values(), "Actor"),
        values(BillingCadence.values(), "billingCadence"),
        values(BillingMode.values(), "billingMode"),
        values(Calculation.values(), "Calculation"),
        values(CatalogStatus.values(), "Plan/properties/status", "Billable/properties/status"),
        values(Currency.values(), "currency"),
        values(Environment.values(), "Environment"),
        values(InvoiceStatus.values(), "InvoiceStatus"),
        values(KeyType.values(), "KeyType"),
        values(NetTerms.values(), "NetTerms", "netTerms"),
        values(PaymentGateway.values(), "PaymentGateway"),
        values(PriceType.values(), "PriceType"),
        values(RetentionMessages.Reason.values(), "EventMonthNeedReason"),
        values(SubscriptionStatus.values(), "SubscriptionStatus"),
        values(TransactionType.values(), "Transaction/properties/type"));
  }

  private static Arguments values(WireName[] constants, String... places) {
    return Arguments.of(Arrays.stream(constants).map(WireName::wire).toList(), List.of(places));
  }

  @ParameterizedTest
  @MethodSource("enums")
  void enumsHaveTheSameValuesInCodeAndDocument(List<String> values, List<String> places) {
    int[] found = {0};
    for (Document document : Document.values()) {
      document.walk(
          (at, node) -> {
            if (node.get("enum") instanceof List<?> documented
                && places.stream().anyMatch(place -> at.endsWith("/" + place))
                && !at.contains("CheckoutSession")) {
              found[0]++;
              assertThat(documented.stream().filter(value -> value != null).toList())
                  .as(at)
                  .map(Object::toString)
                  .containsExactlyInAnyOrderElementsOf(values);
            }
          });
    }
    assertThat(found[0]).isPositive();
  }
}

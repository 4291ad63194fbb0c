package io.steelyard.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.customer.CustomerMessages.CustomerInput;
import io.steelyard.support.Merchant;
import io.steelyard.support.TestApp;
import io.steelyard.support.TestApp.Answer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What a customer's fields may hold, on create and on upsert alike. */
class CustomerInputIT {
  private static TestApp app;
  private static Merchant merchant;

  @BeforeAll
  static void start() {
    app = TestApp.start();
    merchant = app.merchant("live", Merchant.CATALOG);
  }

  @AfterAll
  static void stop() {
    app.close();
  }

  /** The faults of a body that both operations must refuse, seen from the customer. */
  private static List<String> refusedFaults(String body) {
    Answer created = merchant.call("POST", "/external/customers").json(body).send(400);
    Answer upserted =
        merchant
            .call("POST", "/external/customers/upsert/bulk")
            .json("[{\"externalId\": \"other\"}, " + body + "]")
            .send(400);
    assertThat(created.<String>at("code")).isEqualTo("validation_failed");
    assertThat(created.header("content-type")).startsWith("application/problem+json");
    assertThat(upserted.faults())
        .containsExactlyElementsOf(created.faults().stream().map(each -> "/1" + each).toList());
    assertThat(merchant.get("/external/customers").<Integer>at("count")).isZero();
    return created.faults();
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "{}                                             | /externalId required",
        "{'externalId': null}                           | /externalId type",
        "{'externalId': ''}                             | /externalId min_length",
        "{'externalId': 7}                              | /externalId type",
        "{'externalId': 'a', 'plan': 'pro'}             | /plan unknown_property",
        "{'externalId': 'a', 'id': 'cus_1'}             | /id unknown_property",
        "{'externalId': 'a', 'a/b~c': 1}                | /a~1b~0c unknown_property",
        "{'externalId': 'a', 'name': false}             | /name type",
        "{'externalId': 'a', 'billingZipCode': 62701}   | /billingZipCode type",
        "[]                                             | ' type'",
        "'acme'                                         | ' type'",
        "null                                           | ' type'",
      },
      quoteCharacter = '"')
  void aMisshapenCustomerIsRefusedAtThePlaceOfTheFault(String body, String fault) {
    assertThat(refusedFaults(body.replace('\'', '"'))).containsExactly(fault.replace("'", ""));
  }

  @Test
  void noTextFieldMayBeEmptyOrTooLongAndEveryFaultIsNamedAtOnce() {
    List<String> empty = new ArrayList<>();
    List<String> tooLong = new ArrayList<>();
    StringBuilder emptyBody = new StringBuilder();
    StringBuilder longBody = new StringBuilder();
    for (String field : CustomerInput.FIELDS) {
      String separator = empty.isEmpty() ? "{" : ", ";
      emptyBody.append(separator).append('"').append(field).append("\": \"\"");
      longBody.append(separator).append('"').append(field).append("\": \"");
      longBody.append("x".repeat(8193)).append('"');
      empty.add("/" + field + (field.endsWith("ZipCode") ? " pattern" : " min_length"));
      tooLong.add("/" + field + " max_length");
    }

    assertThat(refusedFaults(emptyBody + "}")).containsExactlyInAnyOrderElementsOf(empty);
    assertThat(refusedFaults(longBody + "}")).containsExactlyInAnyOrderElementsOf(tooLong);
  }

  @Test
  void textThatIsIndexedHasUpTo512CharactersOfAnyKind() {
    String most = "\ud83e\udd84".repeat(512);
    Map<String, String> body = new HashMap<>();
    for (String field : List.of("externalId", "name", "ledgerAId", "cardGatewayId", "ledgerBId")) {
      body.put(field, most);
    }
    Merchant another = app.merchant("live", null);
    another.call("POST", "/external/customers").json(body).send(201);
    another.call("POST", "/external/customers/upsert/bulk").json(List.of(body)).send(200);

    body.replaceAll((field, text) -> text + "x");

    assertThat(another.call("POST", "/external/customers").json(body).send(400).faults())
        .hasSize(5)
        .allMatch(fault -> fault.endsWith(" max_length"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "1234",
        "123456",
        "12345-",
        "12345-123",
        "12345-12345",
        "12345 1234",
        "1234a",
        " 12345",
        "12345\\n",
        "١٢٣٤٥",
        "12345-1234-1234"
      })
  void aZipCodeHasFiveDigitsAndPerhapsFourMore(String zip) {
    assertThat(
            refusedFaults(
                "{\"externalId\": \"a\", \"billingZipCode\": \"%1$s\", \"shippingZipCode\": \"%1$s\"}"
                    .formatted(zip)))
        .containsExactlyInAnyOrder("/billingZipCode pattern", "/shippingZipCode pattern");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "ada",
        "ada@",
        "@acme.example",
        "ada@acme",
        "a b@acme.example",
        "ada@acme.example@x.y",
        "ada@acme..example",
        ".ada@acme.example",
        "ada@-acme.example",
        "ada@acme.example\\n"
      })
  void anEmailMustBeOne(String email) {
    assertThat(refusedFaults("{\"externalId\": \"a\", \"email\": \"%s\"}".formatted(email)))
        .hasSize(1)
        .allSatisfy(fault -> assertThat(fault).startsWith("/email "));
  }

  @Test
  void externalIdsAreAnyTextAndFindTheirCustomerInAPath() {
    Merchant own = app.merchant("live", Merchant.CATALOG);
    String longest = "x".repeat(512);
    Map<String, String> ids =
        Map.of(
            "a/b",
            "a%2Fb",
            "ä ö",
            "%C3%A4%20%C3%B6",
            "a%2Fb",
            "a%252Fb",
            "a+b",
            "a+b",
            " ",
            "%20",
            "..",
            "%2E%2E",
            longest,
            longest);

    ids.forEach(
        (externalId, path) -> {
          String id = own.customerId(externalId);
          Answer transactions =
              own.call("GET", "/external/customers/external-id/" + path + "/transactions")
                  .send(200);
          assertThat(transactions.<Integer>at("count")).isEqualTo(1);
          String filter = path.replace("+", "%2B").replace("..", "%2E%2E");
          assertThat(own.get("/external/customers?externalId=" + filter).<String>at("results.0.id"))
              .isEqualTo(id);
        });
  }
}

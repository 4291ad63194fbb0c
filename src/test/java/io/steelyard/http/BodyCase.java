package io.steelyard.http;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.json.Json;
import io.steelyard.support.Merchant;
import io.steelyard.support.Operations;
import io.steelyard.support.Operations.Operation;
import io.steelyard.support.TestApp;
import io.steelyard.support.TestApp.Answer;
import io.steelyard.support.TestApp.Call;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/** One example of one operation. */
record BodyCase(
    TestApp app, Merchant merchant, Operation operation, boolean external, Object body) {
  String text() {
    return Json.encodeText(body);
  }

  Answer send(byte[] bytes) {
    String path =
        operation.with(
            Map.of(
                "id", external ? "sub_01jd3c5m8y6cq643dzvmxxqkfb" : merchant.id(),
                "externalId", "a",
                "subscriptionId", "sub_01jd3c5m8y6cq643dzvmxxqkfb",
                "customerId", "cus_01jd3c5m8y6cq643dzvmxxqkfb",
                "gateway", "CardGateway",
                "invoiceId", "inv_01jd3c5m8yss6ys3c4dwa7n360"));
    Call call =
        external ? merchant.call(operation.method(), path) : app.operator(operation.method(), path);
    return call.body(bytes, "application/json").send();
  }

  /** The faults of a body that must be refused. */
  List<String> faults(byte[] bytes) {
    Answer answer = send(bytes);
    String sent = new String(bytes, 0, Math.min(bytes.length, 500), StandardCharsets.UTF_8);
    assertThat(answer.status()).as("%s%n%s%n%s", this, sent, answer.text()).isEqualTo(400);
    assertThat(answer.<String>at("code")).isEqualTo("validation_failed");
    return answer.faults();
  }

  List<String> faults(String text) {
    return faults(text.getBytes(StandardCharsets.UTF_8));
  }

  @Override
  public String toString() {
    return operation + " " + text().length();
  }

  /** Every example of every operation of both documents. */
  static Stream<BodyCase> all(TestApp app, Merchant merchant) {
    return Stream.of(true, false)
        .flatMap(
            external ->
                (external ? Operations.external() : Operations.operator())
                    .stream()
                        .flatMap(
                            operation ->
                                operation.examples().stream()
                                    .map(
                                        body ->
                                            new BodyCase(
                                                app, merchant, operation, external, body))));
  }
}

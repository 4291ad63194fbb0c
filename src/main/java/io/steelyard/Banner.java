package io.steelyard;

import io.steelyard.Demo.Introduction;
import io.steelyard.json.Json;
import java.time.Instant;
import java.util.Optional;

/** What a start says at its end, readable at a glance. */
final class Banner {
  private Banner() {}

  /**
   * @param api where the external API answers, e.g. {@code http://127.0.0.1:8080}; null for nowhere
   * @param token the operator token where this start made it, else empty
   * @param now for the example event
   */
  static String text(
      String api,
      String management,
      Optional<String> token,
      Optional<Introduction> demo,
      Instant now) {
    StringBuilder text = new StringBuilder();
    text.append("\nSteelyard is ready\n\n");
    if (api != null) {
      line(text, "API", api);
      line(text, "Docs", api + "/docs");
    }
    line(text, "Operator", management + "/operator (docs: " + management + "/docs)");
    token.ifPresent(secret -> line(text, "Token", secret));
    if (api != null) {
      demo.ifPresent(known -> introduce(text, api, known, now));
    }
    return text.append('\n').toString();
  }

  private static void line(StringBuilder text, String name, String value) {
    text.append("  %-10s%s%n".formatted(name, value));
  }

  private static void introduce(StringBuilder text, String api, Introduction demo, Instant now) {
    line(text, "API key", demo.apiKey() + "   (demo merchant)");
    String key = " -H 'x-api-key: " + demo.apiKey() + "'";
    String json = " -H 'content-type: application/json'";
    text.append("\n  Create a customer; it is subscribed to the default plan:\n");
    command(
        text,
        "curl -s %s/external/customers%s%s -d '{\"externalId\": \"my-first\"}'",
        api,
        key,
        json);
    if (demo.customerId() != null) {
      text.append("\n  Post usage of the demo customer acme:\n");
      command(
          text,
          "curl -s %s/external/event%s%s -d '{\"customerId\": \"%s\","
              + " \"eventName\": \"model.completion\", \"generatedAt\": \"%s\","
              + " \"data\": {\"tokens\": 25000}}'",
          api,
          key,
          json,
          demo.customerId(),
          Json.timestamp(now));
    }
    if (demo.unitId() != null) {
      text.append("\n  Read what is left of its prepaid units:\n");
      command(
          text,
          "curl -s %s/external/customers/external-id/acme/customPricingUnits/%s/usage%s",
          api,
          demo.unitId(),
          key);
    }
    if (demo.invoiceId() != null) {
      text.append("\n  Read its first invoice:\n");
      command(
          text, "curl -s %s/external/invoices/%s/with-line-items%s", api, demo.invoiceId(), key);
    }
  }

  private static void command(StringBuilder text, String format, Object... values) {
    text.append("    ").append(format.formatted(values)).append('\n');
  }
}

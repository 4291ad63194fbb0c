package io.steelyard.operator;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.db.Endpoint;
import io.steelyard.support.Merchant;
import io.steelyard.support.PostgresSupport;
import io.steelyard.support.TestApp;
import io.steelyard.support.TestApp.Answer;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** Which keys a merchant has, and which of them are in use. */
class ApiKeysIT {
  private static final String CUSTOMERS = "/external/customers";

  private static List<Map<String, Object>> keys(Merchant merchant) {
    return merchant.operator("GET", "/api-keys?order=asc").send(200).at("results");
  }

  private static Map<String, Object> create(Merchant merchant, String type, String name) {
    return merchant
        .operator("POST", "/api-keys")
        .json(Map.of("type", type, "name", name))
        .send(201)
        .object();
  }

  @Test
  void keysAreListedWithoutTheirTextAndWithTheirLastUse() throws Exception {
    try (TestApp app = TestApp.start(Map.of("keys.lastUseMs", "50", "keys.cacheMs", "50"))) {
      Merchant merchant = app.merchant("test", null);
      app.merchant("live", null);
      Map<String, Object> idle = create(merchant, "secret", "idle");
      Map<String, Object> shown = create(merchant, "publishable", "browser");
      merchant.operator("DELETE", "/api-keys/" + idle.get("id")).send(204);
      Instant before = Instant.now();
      merchant.call("GET", CUSTOMERS).send(200);
      app.external("GET", CUSTOMERS).key((String) shown.get("key")).send(403);
      app.external("GET", CUSTOMERS).key((String) idle.get("key")).send(401);

      List<Map<String, Object>> keys =
          Merchant.eventually(
              () -> keys(merchant),
              all -> all.stream().filter(key -> key.get("lastUsedAt") != null).count() == 2);

      assertThat(keys).extracting(key -> key.get("name")).containsExactly(null, "idle", "browser");
      assertThat(keys)
          .extracting(key -> key.get("type"))
          .containsExactly("secret", "secret", "publishable");
      assertThat(keys)
          .extracting(key -> key.get("revokedAt") != null)
          .containsExactly(false, true, false);
      assertThat(keys.get(1).get("lastUsedAt")).isNull();
      for (int used : new int[] {0, 2}) {
        assertThat(Instant.parse((String) keys.get(used).get("lastUsedAt")))
            .isBetween(before.minusMillis(1), Instant.now());
      }
      String first = (String) keys.getFirst().get("lastUsedAt");
      Instant later = Instant.parse(first).plusMillis(200);
      assertThat(
              Merchant.eventually(
                  () -> {
                    merchant.call("GET", CUSTOMERS).send(200);
                    return Instant.parse((String) keys(merchant).getFirst().get("lastUsedAt"));
                  },
                  later::isBefore))
          .isAfter(later);
    }
  }

  @Test
  void aListOfKeysIsPagedAndItsMerchantsOwn() {
    try (TestApp app = TestApp.start()) {
      Merchant merchant = app.merchant("test", null);
      create(merchant, "secret", "second");

      Answer page = merchant.operator("GET", "/api-keys?pageSize=1&page=2").send(200);

      assertThat(page.<Integer>at("count")).isEqualTo(2);
      assertThat(page.<Integer>at("pages")).isEqualTo(2);
      assertThat(page.<String>at("results.0.name")).isNull();
      assertThat(page.text()).doesNotContain(merchant.key(), "sk_");
      assertThat(
              app.merchant("test", null)
                  .operator("GET", "/api-keys")
                  .send(200)
                  .<Integer>at("count"))
          .isEqualTo(1);
      assertThat(merchant.operator("GET", "/api-keys?type=secret").send(400).faults())
          .containsExactly("?type unknown_parameter");
    }
  }

  /** The row of a key is another version after each write to it. */
  private static String version(Endpoint database) {
    return PostgresSupport.column(database, "SELECT xmin FROM api_key").getFirst();
  }

  @Test
  void requestsAreNotWrittenDownOneByOneAndTheLastUseSurvivesAStop() {
    Endpoint database = PostgresSupport.migratedDatabase();
    Set<String> versions = new HashSet<>();
    Instant before;
    try (TestApp app = TestApp.start(database, Map.of("keys.cacheMs", "0"))) {
      Merchant merchant = app.merchant("test", null);
      before = Instant.now();
      for (int i = 0; i < 50; i++) {
        merchant.call("GET", CUSTOMERS).send(200);
        versions.add(version(database));
      }
    }

    assertThat(versions).hasSize(1);
    String used =
        PostgresSupport.column(
                database, "SELECT (extract(epoch FROM last_used_at) * 1000)::bigint FROM api_key")
            .getFirst();
    assertThat(Instant.ofEpochMilli(Long.parseLong(Objects.requireNonNull(used))))
        .isBetween(before.minusMillis(1), before.plus(Duration.ofMinutes(1)));
    assertThat(versions).doesNotContain(version(database));
  }
}

package io.steelyard.config;

import java.net.URI;
import java.net.URISyntaxException;
import java.util.Base64;

/** What must hold between settings, and inside those that have a form of their own. */
final class ConfigRules {
  private static final int TOKEN_CHARS_MIN = 16;
  private static final int ENCRYPTION_KEY_BYTES = 32;

  private ConfigRules() {}

  static void check(Config config) {
    database(config);
    ports(config);
    tls("http.tls.", config.http().tls());
    tls("management.tls.", config.management().tls());
    if (config.ingest().bufferedEventsMax() < config.limits().eventsPerBatch()) {
      throw new ConfigException(
          "ingest.bufferedEventsMax (%d) must be at least limits.eventsPerBatch (%d), or a full batch could never be stored"
              .formatted(config.ingest().bufferedEventsMax(), config.limits().eventsPerBatch()));
    }
    // A compressed body is held with what it inflates to.
    if (config.limits().bodyBytesPerMerchant() < 2L * config.limits().bodyBytes()) {
      throw new ConfigException(
          "limits.bodyBytesPercentPerMerchant (%d) of limits.bodyBytesInFlight (%d) must be at least twice limits.bodyBytes (%d), or a full body could never be read"
              .formatted(
                  config.limits().bodyBytesPercentPerMerchant(),
                  config.limits().bodyBytesInFlight(),
                  config.limits().bodyBytes()));
    }
    if (config.cluster().enabled()) {
      ClusterRules.check(config);
    }
    // Half of the lease is for the gateway: a look, and the action itself.
    if (config.delivery().leaseMs() < 4L * config.gateway().callTimeoutMs()) {
      throw new ConfigException(
          "delivery.leaseMs (%d) must be at least four times gateway.callTimeoutMs (%d), or an attempt could be repeated while it goes on"
              .formatted(config.delivery().leaseMs(), config.gateway().callTimeoutMs()));
    }
    encryptionKey(config.security().encryptionKey());
    tracing(config.tracing());
  }

  private static boolean isWebAddress(String text) {
    try {
      URI address = new URI(text);
      return address.getHost() != null
          && address.getUserInfo() == null
          && ("http".equals(address.getScheme()) || "https".equals(address.getScheme()));
    } catch (URISyntaxException e) {
      return false;
    }
  }

  private static void tracing(Config.Tracing tracing) {
    String authorization = tracing.authorization();
    if (authorization != null && !authorization.matches("[\\x20-\\x7e]+")) {
      throw new ConfigException(
          "tracing.authorization must be one line of ASCII characters (its value is not shown)");
    }
    if (!isWebAddress(tracing.endpoint())) {
      throw new ConfigException(
          "tracing.endpoint must be the http or https address of a collector, such as http://127.0.0.1:4318/v1/traces");
    }
  }

  private static void database(Config config) {
    if (config.database().embedded()) {
      if (config.database().distributed()) {
        throw new ConfigException(
            "database.url must name a Citus coordinator when database.distribution is citus");
      }
      return;
    }
    DatabaseUrl.parse(config.database().url());
    String token = config.operator().token();
    if (token == null || token.length() < TOKEN_CHARS_MIN) {
      throw new ConfigException(
          "operator.token must be set to at least %d characters when database.url is set"
              .formatted(TOKEN_CHARS_MIN));
    }
  }

  private static void ports(Config config) {
    int http = config.http().port();
    if (http != 0 && http == config.management().port()) {
      throw new ConfigException(
          "management.port must differ from http.port, both are %d".formatted(http));
    }
    if (config.database().embedded()
        && config.database().port() != 0
        && (config.database().port() == http
            || config.database().port() == config.management().port())) {
      throw new ConfigException(
          "database.port must differ from http.port and management.port, it is %d"
              .formatted(config.database().port()));
    }
  }

  private static void tls(String prefix, Tls tls) {
    if ((tls.certificatePath() == null) != (tls.keyPath() == null)) {
      String[] pair = {"certificatePath", "keyPath"};
      int unset = tls.certificatePath() == null ? 0 : 1;
      throw new ConfigException(
          "%s%s must be set when %s%s is".formatted(prefix, pair[unset], prefix, pair[1 - unset]));
    }
    if (tls.asksClients() && !tls.enabled()) {
      throw new ConfigException(
          "%sclientAuth must be none when %scertificatePath is not set".formatted(prefix, prefix));
    }
    if (tls.asksClients() && tls.clientCaPath() == null) {
      throw new ConfigException(
          "%sclientCaPath must be set when %sclientAuth is %s"
              .formatted(prefix, prefix, tls.clientAuth()));
    }
    if (!tls.asksClients() && tls.clientCaPath() != null) {
      throw new ConfigException(
          "%sclientAuth must be request or required when %sclientCaPath is set"
              .formatted(prefix, prefix));
    }
  }

  private static void encryptionKey(String key) {
    if (key == null) {
      return;
    }
    try {
      if (Base64.getDecoder().decode(key).length == ENCRYPTION_KEY_BYTES) {
        return;
      }
    } catch (IllegalArgumentException e) {
      // not base64: refused below, in the same words
    }
    throw new ConfigException(
        "security.encryptionKey must be the base64 of exactly %d bytes (its value is not shown)"
            .formatted(ENCRYPTION_KEY_BYTES));
  }
}

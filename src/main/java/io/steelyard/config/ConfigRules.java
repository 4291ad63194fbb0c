package io.steelyard.config;

import java.net.URI;
import java.net.URISyntaxException;
import java.util.Base64;

/** What must hold between settings, and inside those that have a form of their own. */
final class ConfigRules {
  private static final int TOKEN_CHARS_MIN = 16;
  private static final int ENCRYPTION_KEY_BYTES = 32;

  private ConfigRules() {}

  static void check(Config config, Faults faults) {
    database(config, faults);
    ports(config, faults);
    tls("http.tls.", config.http().tls(), faults);
    tls("management.tls.", config.management().tls(), faults);
    amounts(config, faults);
    if (config.cluster().enabled()) {
      ClusterRules.check(config, faults);
    }
    encryptionKey(config.security().encryptionKey(), faults);
    tracing(config.tracing(), faults);
  }

  private static void amounts(Config config, Faults faults) {
    faults.rule(
        config.ingest().bufferedEventsMax() < config.limits().eventsPerBatch(),
        "ingest.bufferedEventsMax (%d) must be at least limits.eventsPerBatch (%d), or a full batch could never be stored"
            .formatted(config.ingest().bufferedEventsMax(), config.limits().eventsPerBatch()),
        "ingest.bufferedEventsMax",
        "limits.eventsPerBatch");
    // A compressed body is held with what it inflates to.
    faults.rule(
        config.limits().bodyBytesPerMerchant() < 2L * config.limits().bodyBytes(),
        "limits.bodyBytesPercentPerMerchant (%d) of limits.bodyBytesInFlight (%d) must be at least twice limits.bodyBytes (%d), or a full body could never be read"
            .formatted(
                config.limits().bodyBytesPercentPerMerchant(),
                config.limits().bodyBytesInFlight(),
                config.limits().bodyBytes()),
        "limits.bodyBytesPercentPerMerchant",
        "limits.bodyBytesInFlight",
        "limits.bodyBytes");
    // Half of the lease is for the gateway: a look, and the action itself.
    faults.rule(
        config.delivery().leaseMs() < 4L * config.gateway().callTimeoutMs(),
        "delivery.leaseMs (%d) must be at least four times gateway.callTimeoutMs (%d), or an attempt could be repeated while it goes on"
            .formatted(config.delivery().leaseMs(), config.gateway().callTimeoutMs()),
        "delivery.leaseMs",
        "gateway.callTimeoutMs");
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

  private static void tracing(Config.Tracing tracing, Faults faults) {
    String authorization = tracing.authorization();
    faults.rule(
        authorization != null && !authorization.matches("[\\x20-\\x7e]+"),
        "tracing.authorization must be one line of ASCII characters (its value is not shown)",
        "tracing.authorization");
    faults.rule(
        !isWebAddress(tracing.endpoint()),
        "tracing.endpoint must be the http or https address of a collector, such as http://127.0.0.1:4318/v1/traces",
        "tracing.endpoint");
  }

  private static void database(Config config, Faults faults) {
    if (config.database().embedded()) {
      faults.rule(
          config.database().distributed(),
          "database.url must name a Citus coordinator when database.distribution is citus",
          "database.url",
          "database.distribution");
      return;
    }
    try {
      DatabaseUrl.parse(config.database().url());
    } catch (ConfigException e) {
      faults.add(e);
    }
    String token = config.operator().token();
    faults.rule(
        token == null || token.length() < TOKEN_CHARS_MIN,
        "operator.token must be set to at least %d characters when database.url is set"
            .formatted(TOKEN_CHARS_MIN),
        "database.url",
        "operator.token");
  }

  private static void ports(Config config, Faults faults) {
    int http = config.http().port();
    int management = config.management().port();
    faults.rule(
        http != 0 && http == management,
        "management.port must differ from http.port, both are %d".formatted(http),
        "http.port",
        "management.port");
    int database = config.database().port();
    if (!config.database().embedded() || database == 0) {
      return;
    }
    faults.rule(
        database == http || database == management,
        "database.port must differ from http.port and management.port, it is %d"
            .formatted(database),
        "database.url",
        "database.port",
        database == http ? "http.port" : "management.port");
  }

  private static void tls(String prefix, Tls tls, Faults faults) {
    String certificate = prefix + "certificatePath";
    String key = prefix + "keyPath";
    String auth = prefix + "clientAuth";
    String ca = prefix + "clientCaPath";
    boolean certificateUnset = tls.certificatePath() == null;
    boolean keyUnset = tls.keyPath() == null;
    faults.rule(
        certificateUnset != keyUnset,
        "%s must be set when %s is"
            .formatted(certificateUnset ? certificate : key, certificateUnset ? key : certificate),
        certificate,
        key);
    if (tls.asksClients() && certificateUnset && keyUnset) {
      faults.rule(
          true,
          "%s must be none when %s is not set".formatted(auth, certificate),
          auth,
          key,
          certificate);
    } else if (tls.asksClients()) {
      faults.rule(
          tls.clientCaPath() == null,
          "%s must be set when %s is %s".formatted(ca, auth, tls.clientAuth()),
          ca,
          auth);
    } else {
      faults.rule(
          tls.clientCaPath() != null,
          "%s must be request or required when %s is set".formatted(auth, ca),
          auth,
          ca);
    }
  }

  private static void encryptionKey(String key, Faults faults) {
    faults.rule(
        key != null && !isEncryptionKey(key),
        "security.encryptionKey must be the base64 of exactly %d bytes (its value is not shown)"
            .formatted(ENCRYPTION_KEY_BYTES),
        "security.encryptionKey");
  }

  private static boolean isEncryptionKey(String key) {
    try {
      return Base64.getDecoder().decode(key).length == ENCRYPTION_KEY_BYTES;
    } catch (IllegalArgumentException e) {
      return false; // not base64
    }
  }
}

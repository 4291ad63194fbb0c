package io.steelyard.config;

import java.util.List;
import java.util.Map;

/**
 * Every setting, as {@code conf/config.json} names it: a record per section, a component per key.
 * {@link ConfigLoader} reads it and refuses unknown keys, wrong types and values out of the bounds
 * that {@link Range} and the compact constructors state. A component marked {@link Unset} may be
 * null.
 */
public record Config(
    Http http,
    Management management,
    Operator operator,
    Database database,
    Demo demo,
    Verticles verticles,
    Cluster cluster,
    Limits limits,
    Timeouts timeouts,
    Keys keys,
    Ingest ingest,
    Aggregation aggregation,
    Explain explain,
    Events events,
    Billing billing,
    Integrity integrity,
    Gateway gateway,
    Delivery delivery,
    Security security,
    Log log,
    Tracing tracing) {
  /** Of a proxy that asks every second, two questions and some. */
  private static final int UNREADY_MS = 3000;

  /**
   * @param port 0 takes a free one
   * @param publicUrl how customers' browsers reach this port, for links; unset means by host and
   *     port
   */
  public record Http(
      String host, @Range(min = 0, max = 65535) int port, @Unset String publicUrl, Tls tls) {}

  /** Port 0 takes a free one. */
  public record Management(String host, @Range(min = 0, max = 65535) int port, Tls tls) {}

  /** Unset with the embedded database: a token is made at start and printed. */
  public record Operator(@Unset @Secret String token) {
    @Override
    public String toString() {
      return Redaction.of("operator.", this);
    }
  }

  /**
   * @param url {@code postgresql://user:password@host:port/db}; unset means embedded
   * @param dataDir where the embedded database keeps its data between runs
   * @param port of the embedded database; 0 takes a free one
   * @param distribution whether a Citus cluster keeps the tables that grow
   * @param controlPoolSize connections for knowing callers and readiness
   */
  public record Database(
      @Unset @Secret String url,
      String dataDir,
      @Range(min = 0, max = 65535) int port,
      @OneOf({"none", "citus"}) String distribution,
      @Range(min = 1, max = 1000) int apiPoolSize,
      @Range(min = 1, max = 1000) int controlPoolSize,
      @Range(min = 1, max = 1000) int ingestPoolSize,
      @Range(min = 1, max = 1000) int aggregationPoolSize,
      @Range(min = 1, max = 1000) int billingPoolSize,
      @Range(min = 1, max = 1_000_000) int poolWaitQueueMax,
      @Range(min = 1, max = 600_000) int poolWaitMs,
      @Range(min = 1, max = 600_000) int connectTimeoutMs,
      @Range(min = 1, max = 600_000) int statementTimeoutMs,
      @Range(min = 1, max = 600_000) int lockTimeoutMs,
      @Range(min = 1, max = 600_000) int idleInTransactionTimeoutMs,
      @Range(min = 0, max = 100_000) int statementCacheSize) {
    public boolean embedded() {
      return url == null;
    }

    public boolean distributed() {
      return distribution.equals("citus");
    }

    /** The parts of {@code url}, which must be set. */
    public DatabaseUrl parsedUrl() {
      return DatabaseUrl.parse(url);
    }

    @Override
    public String toString() {
      return Redaction.of("database.", this);
    }
  }

  /** Unset means: on with the embedded database, off otherwise. */
  public record Demo(@Unset Boolean enabled) {}

  public record Instances(@Range(min = 0, max = 256) int instances) {}

  public record Verticles(
      Instances http,
      Instances merchant,
      Instances catalog,
      Instances customer,
      Instances subscription,
      Instances invoice,
      Instances credit,
      Instances usage,
      Instances aggregation,
      Instances explain,
      Instances retention,
      Instances billing,
      Instances integrity,
      Instances gateway,
      Instances delivery) {}

  /**
   * One way of discovery at most: {@code members}, {@code dns} or {@code kubernetesService}.
   *
   * @param host where other nodes reach this one: its members' port and its event bus listen there
   * @param port of the membership
   * @param eventBusPort of the messages between the verticles of different nodes
   * @param members {@code host:port} of nodes to look for, this one among them or not
   * @param dns a name whose addresses are those of the nodes, all on this {@code port}
   * @param kubernetesService a service whose endpoints are the nodes, asked of the Kubernetes API
   * @param secret that all nodes share; who does not know it is no node
   */
  public record Cluster(
      boolean enabled,
      String name,
      String host,
      @Range(min = 1, max = 65535) int port,
      @Range(min = 1, max = 65535) int eventBusPort,
      List<String> members,
      @Unset String dns,
      @Unset String kubernetesService,
      @Unset String kubernetesNamespace,
      @Unset @Secret String secret,
      ClusterTls tls) {
    @Override
    public String toString() {
      return Redaction.of("cluster.", this);
    }
  }

  /**
   * PEM files with which the event buses of the nodes encrypt and know each other; all or none.
   *
   * @param ca of whom the certificates of all nodes are
   */
  public record ClusterTls(@Unset String certificate, @Unset String key, @Unset String ca) {
    public boolean enabled() {
      return certificate != null;
    }
  }

  /**
   * @param httpInFlightPercentPerMerchant of what one instance takes, HTTP's or the verticles'
   *     behind it; counted in all HTTP instances together
   * @param bodyBytesPercentPerMerchant of one HTTP instance's; likewise
   * @param requestsPerSecondPerMerchant 0 for no limit
   * @param eventsPerSecondPerMerchant 0 for no limit
   */
  public record Limits(
      @Range(min = 1024, max = 1 << 30) int bodyBytes,
      @Range(min = 1, max = 1_000_000) int eventsPerBatch,
      @Range(min = 1, max = 100_000) int customersPerBulk,
      @Range(min = 1, max = 100_000) int subscriptionsPerBulk,
      @Range(min = 4, max = 500) int jsonDepth,
      @Range(min = 1024, max = 1 << 20) int headerBytes,
      @Range(min = 256, max = 1 << 24) int stringChars,
      @Range(min = 256, max = 1 << 24) int eventDataBytes,
      @Range(min = 1, max = 1_000_000) int connectionsPerInstance,
      @Range(min = 1, max = 1_000_000) int httpInFlightPerInstance,
      @Range(min = 1, max = 100) int httpInFlightPercentPerMerchant,
      @Range(min = 1, max = 1_000_000) int verticleInFlightPerInstance,
      @Range(min = 2048, max = 1L << 40) long bodyBytesInFlight,
      @Range(min = 1, max = 100) int bodyBytesPercentPerMerchant,
      @Range(min = 0, max = 10_000_000) int requestsPerSecondPerMerchant,
      @Range(min = 0, max = 10_000_000) int eventsPerSecondPerMerchant) {
    public long bodyBytesPerMerchant() {
      return bodyBytesInFlight * bodyBytesPercentPerMerchant / 100;
    }
  }

  /**
   * @param requestMs from the end of a request's body to its answer
   * @param bodyMs from a request's first byte to the end of its body
   * @param headMs from the first byte of a request to the end of its headers; then it is cut off
   * @param idleMs after which a silent connection is closed
   * @param placeMs that a request whose merchant has all it may have in flight waits for one of
   *     those to end; 0 for not at all
   * @param unreadyMs how long a stop goes on taking requests while readiness says not to send any;
   *     unset means none with the embedded database, see {@link #unreadyMs()}
   * @param drainMs how long a stop then waits for requests in flight
   * @param clockMs in place of {@code requestMs} where a merchant's clock is set, which answers
   *     when all work due by then is done
   */
  public record Timeouts(
      @Range(min = 100, max = 600_000) int requestMs,
      @Range(min = 100, max = 600_000) int headMs,
      @Range(min = 100, max = 600_000) int bodyMs,
      @Range(min = 100, max = 3_600_000) int idleMs,
      @Range(min = 0, max = 600_000) int placeMs,
      @Unset @Range(min = 0, max = 600_000) Integer unreadyMs,
      @Range(min = 100, max = 600_000) int drainMs,
      @Range(min = 100, max = 3_600_000) int clockMs) {}

  /** How long a known API key is trusted without asking the database: at most 5 s. */
  public record Keys(
      @Range(min = 0, max = 5000) int cacheMs,
      @Range(min = 1, max = 10_000_000) int cacheEntries,
      @Range(min = 10, max = 86_400_000) int lastUseMs) {}

  /**
   * One request alone may exceed what goes by bytes, by its own body.
   *
   * @param backlogEventsMax stored and not yet counted, above which storing waits for counting
   * @param bufferedPercentPerMerchant of the buffer that one merchant's waiting requests may fill
   */
  public record Ingest(
      @Range(min = 1, max = 100_000) int flushEventsMax,
      @Range(min = 1, max = 1 << 30) int flushBytesMax,
      @Range(min = 1, max = 64) int flushesInFlight,
      @Range(min = 1, max = 10_000_000) int bufferedEventsMax,
      @Range(min = 1, max = 1L << 40) long bufferedBytesMax,
      @Range(min = 1, max = 100) int bufferedPercentPerMerchant,
      @Range(min = 1, max = 1_000_000_000) int backlogEventsMax) {}

  /**
   * @param claimEventsMax folded in one transaction, as long as they are more than one batch
   * @param claimBytesMax likewise
   * @param heldBytesMax of what this process stored and has not counted yet; the rest is read back
   * @param spacingMs from the beginning of one claim to that of the next, while events come in fast
   */
  public record Aggregation(
      @Range(min = 1, max = 1_000_000) int claimEventsMax,
      @Range(min = 1, max = 1 << 30) int claimBytesMax,
      @Range(min = 0, max = 1 << 30) int heldBytesMax,
      @Range(min = 10, max = 60_000) int pollMs,
      @Range(min = 0, max = 10_000) int spacingMs,
      @Range(min = 1, max = 10_000) int backfillPeriodsMax,
      @Range(min = 1000, max = 3_600_000) int statementTimeoutMs) {}

  /**
   * @param inFlightMax requests that one instance answers at once; more are refused
   * @param scanEventsMax read at once, and so held in memory by each of these requests
   */
  public record Explain(
      @Range(min = 1, max = 1000) int inFlightMax,
      @Range(min = 1, max = 100_000) int scanEventsMax) {}

  /**
   * @param timeoutMs how long it may take to tell the months that have events, or to drop one
   * @param keepMonths full months before the present one whose events are kept; older ones are
   *     dropped as soon as nothing needs them; 0 for all
   * @param lookEveryMs how often is looked for months to drop
   */
  public record Events(
      @Range(min = 1000, max = 3_600_000) int timeoutMs,
      @Range(min = 0, max = 1200) int keepMonths,
      @Range(min = 100, max = 31L * 86_400_000) long lookEveryMs) {}

  /**
   * @param pollMs how often is looked for subscriptions that are due
   * @param claimMax subscriptions worked on in one transaction
   * @param lanes transactions at once
   * @param statementTimeoutMs of one statement, also while it waits for a lock
   * @param usageGraceMs how long a closed period with usage waits for late events before its
   *     invoice is final
   */
  public record Billing(
      @Range(min = 10, max = 3_600_000) int pollMs,
      @Range(min = 1, max = 10_000) int claimMax,
      @Range(min = 1, max = 64) int lanes,
      @Range(min = 100, max = 600_000) int statementTimeoutMs,
      @Range(min = 0, max = 31L * 86_400_000) long usageGraceMs) {}

  /**
   * @param timeoutMs how long the check of one merchant may take
   * @param everyMs how often all merchants are checked; 0 for never
   */
  public record Integrity(
      @Range(min = 1000, max = 3_600_000) int timeoutMs,
      @Range(min = 0, max = 31L * 86_400_000) long everyMs) {}

  public record Gateway(
      @Range(min = 10, max = 60_000) int callTimeoutMs,
      @Range(min = 1, max = 10) int attemptsMax,
      @Range(min = 1, max = 60_000) int backoffMs,
      @Range(min = 1000, max = 31L * 86_400_000) long checkoutTtlMs) {}

  /**
   * @param pollMs how often is looked for invoices that wait for their gateways
   * @param claimMax invoices of one merchant that a gateway is asked about at once
   * @param leaseMs after which an attempt is taken for lost and repeated
   * @param attemptsMax after which an action is given up
   * @param backoffMs before the second attempt; doubles with each one, up to {@code backoffMaxMs}
   */
  public record Delivery(
      @Range(min = 10, max = 3_600_000) int pollMs,
      @Range(min = 1, max = 1000) int claimMax,
      @Range(min = 1000, max = 3_600_000) int leaseMs,
      @Range(min = 1, max = 100) int attemptsMax,
      @Range(min = 1, max = 3_600_000) int backoffMs,
      @Range(min = 1, max = 7 * 86_400_000) int backoffMaxMs) {}

  /** 32 bytes in base64, the key that gateway secrets are encrypted with. */
  public record Security(@Unset @Secret String encryptionKey) {
    @Override
    public String toString() {
      return Redaction.of("security.", this);
    }
  }

  /**
   * @param format unset means text with the embedded database, JSON otherwise
   * @param access which requests get a line: {@code usual} are all but accepted events and the
   *     probes of health and metrics, {@code failed} those answered with 400 or above, or not at
   *     all
   */
  public record Log(
      @Unset @OneOf({"json", "text"}) String format,
      @OneOf({"none", "failed", "usual", "all"}) String access) {}

  /**
   * @param endpoint that takes OTLP over HTTP, e.g. {@code http://127.0.0.1:4318/v1/traces}
   * @param authorization the header of that name, for collectors that ask for one
   * @param samplePercent of the requests that come without a decision of their caller's
   */
  public record Tracing(
      boolean enabled,
      String endpoint,
      @Unset @Secret String authorization,
      @Range(min = 0, max = 100) int samplePercent) {
    @Override
    public String toString() {
      return Redaction.of("tracing.", this);
    }
  }

  /** {@code json} or {@code text}. */
  public String logFormat() {
    return log.format() != null ? log.format() : database.embedded() ? "text" : "json";
  }

  /**
   * In milliseconds: as set, else none with the embedded database, which no proxy stands before.
   */
  public int unreadyMs() {
    return timeouts.unreadyMs() != null
        ? timeouts.unreadyMs()
        : database.embedded() ? 0 : UNREADY_MS;
  }

  public boolean demoEnabled() {
    return demo.enabled() == null ? database.embedded() : demo.enabled();
  }

  /** The same settings with secrets that the start made because they were unset. */
  public Config withSecrets(String operatorToken, String encryptionKey) {
    return new Config(
        http,
        management,
        new Operator(operatorToken),
        database,
        demo,
        verticles,
        cluster,
        limits,
        timeouts,
        keys,
        ingest,
        aggregation,
        explain,
        events,
        billing,
        integrity,
        gateway,
        delivery,
        new Security(encryptionKey),
        log,
        tracing);
  }

  /** Every effective value by its dotted name, secrets masked, null for what is unset. */
  public Map<String, Object> shown() {
    return Redaction.values("", this);
  }

  /** Every effective value, one a line, secrets masked. */
  @Override
  public String toString() {
    return Redaction.of("", this);
  }
}

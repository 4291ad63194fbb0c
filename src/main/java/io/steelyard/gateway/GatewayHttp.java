package io.steelyard.gateway;

import com.fasterxml.jackson.databind.JsonNode;
import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import io.steelyard.bus.Call;
import io.steelyard.bus.Failure;
import io.steelyard.bus.FailureException;
import io.steelyard.config.Config;
import io.steelyard.json.Json;
import io.vertx.core.Future;
import io.vertx.core.Promise;
import io.vertx.core.Vertx;
import io.vertx.core.VertxException;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpClient;
import io.vertx.core.http.HttpClientOptions;
import io.vertx.core.http.HttpClientRequest;
import io.vertx.core.http.HttpClientResponse;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.PoolOptions;
import io.vertx.core.http.RequestOptions;
import io.vertx.core.tracing.TracingPolicy;
import java.io.IOException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Puts questions to gateways, mostly as forms. An attempt that failed without a verdict is repeated
 * under the same idempotency key, later each time, while the call's deadline and the limits allow
 * it. It is the plain client of Vert.x and not the web client, since that one cannot abandon an
 * answer half-way.
 */
final class GatewayHttp {
  private static final Logger LOG = LoggerFactory.getLogger(GatewayHttp.class);
  private static final int CONNECTIONS_MAX = 16;
  private static final int WAITING_MAX = 64;
  private static final int IDLE_S = 30;
  private static final int ANSWER_BYTES_MAX = 256 * 1024;
  private static final int RETRY_AFTER_S = 5;

  /** Left of the call's time so that a failure still reaches the caller before it gives up. */
  private static final int RESERVE_MS = 100;

  private final Vertx vertx;
  private final Config.Gateway config;
  private final HttpClient client;
  private final Counter retries;
  private final Counter gaveUp;

  /**
   * @param url absolute
   * @param secret the bearer token
   * @param form null for one that only reads, as is its key
   */
  record Question(
      HttpMethod method,
      String url,
      String secret,
      Map<String, String> form,
      String idempotencyKey) {
    static Question post(
        String url, String secret, Map<String, String> form, String idempotencyKey) {
      return new Question(HttpMethod.POST, url, secret, form, idempotencyKey);
    }

    static Question get(String url, String secret) {
      return new Question(HttpMethod.GET, url, secret, null, null);
    }

    /** Without the secret, for logs. */
    @Override
    public String toString() {
      return method + " " + url + (idempotencyKey == null ? "" : " " + idempotencyKey);
    }
  }

  /**
   * The gateway's verdict, which another attempt would not change.
   *
   * @param body JSON, or a missing node where a refusal came without
   */
  record Answer(int status, JsonNode body) {
    boolean accepted() {
      return status >= 200 && status < 300;
    }
  }

  private record Raw(int status, String retryAfter, Buffer body) {}

  GatewayHttp(Vertx vertx, Config.Gateway config, MeterRegistry metrics) {
    this.vertx = vertx;
    this.config = config;
    this.client =
        vertx.createHttpClient(
            new HttpClientOptions()
                .setIdleTimeout(IDLE_S)
                .setKeepAliveTimeout(IDLE_S)
                // addresses of theirs are nobody else's, nor are our traces theirs: GatewaySpan
                .setTracingPolicy(TracingPolicy.IGNORE),
            new PoolOptions()
                .setHttp1MaxSize(CONNECTIONS_MAX)
                .setMaxWaitQueueSize(WAITING_MAX)
                .setCleanerPeriod(IDLE_S * 1000));
    this.retries =
        Counter.builder("steelyard.gateway.retries")
            .description("Calls to gateways that were repeated")
            .register(metrics);
    this.gaveUp =
        Counter.builder("steelyard.gateway.unavailable")
            .description("Calls to gateways that ended without a verdict")
            .register(metrics);
  }

  Future<Void> close() {
    return client.close();
  }

  /** The gateway's verdict, or {@code gateway_unavailable}. */
  Future<Answer> ask(Question question, Call call) {
    return attempt(question, call, 1);
  }

  private Future<Answer> attempt(Question question, Call call, int number) {
    long timeoutMs = Math.min(config.callTimeoutMs(), call.remainingMs() - RESERVE_MS);
    if (timeoutMs < 1) {
      return gaveUp(question, call, "no time left");
    }
    return send(question, timeoutMs)
        .transform(
            sent -> {
              if (sent.failed()) {
                return retry(question, call, number, "0", sent.cause().toString());
              }
              Raw raw = sent.result();
              return isVerdict(raw.status())
                  ? verdict(question, call, raw)
                  : retry(question, call, number, raw.retryAfter(), "status " + raw.status());
            });
  }

  /** 409 is a concurrent request with the same key, 429 and 5xx may pass. */
  private static boolean isVerdict(int status) {
    return status < 500 && status != 409 && status != 429;
  }

  private static Throwable noVerdict(Raw raw) {
    return new VertxException("status " + raw.status(), true);
  }

  private Future<Answer> retry(
      Question question, Call call, int number, String retryAfter, String because) {
    long delayMs = Math.max(backoffMs(number), retryAfterMs(retryAfter));
    if (number >= config.attemptsMax() || delayMs >= call.remainingMs() - RESERVE_MS) {
      return gaveUp(question, call, because);
    }
    retries.increment();
    return vertx.timer(delayMs).compose(waited -> attempt(question, call, number + 1));
  }

  /** Doubles with each attempt; the upper half is random, so that callers drift apart. */
  private long backoffMs(int number) {
    long full = (long) config.backoffMs() << (number - 1);
    return full - ThreadLocalRandom.current().nextLong(full / 2 + 1);
  }

  private static long retryAfterMs(String seconds) {
    return seconds != null && seconds.matches("\\d{1,9}") ? Long.parseLong(seconds) * 1000 : 0;
  }

  private Future<Raw> send(Question question, long timeoutMs) {
    long startedNs = System.nanoTime();
    RequestOptions options =
        new RequestOptions()
            .setMethod(question.method())
            .setAbsoluteURI(question.url())
            .setFollowRedirects(false)
            .setConnectTimeout(timeoutMs)
            .putHeader("Authorization", "Bearer " + question.secret())
            .putHeader("Accept", "application/json")
            .putHeader("User-Agent", "Steelyard");
    if (question.form() != null) {
      options
          .putHeader("Idempotency-Key", question.idempotencyKey())
          .putHeader("Content-Type", "application/x-www-form-urlencoded");
    }
    GatewaySpan span = GatewaySpan.begin(options);
    return client
        .request(options)
        .compose(
            request -> {
              long spentMs = (System.nanoTime() - startedNs) / 1_000_000;
              Buffer body = question.form() == null ? Buffer.buffer() : encode(question.form());
              return exchange(request, body, Math.max(1, timeoutMs - spentMs));
            })
        .onFailure(error -> span.end(null, error))
        .onSuccess(raw -> span.end(raw.status(), isVerdict(raw.status()) ? null : noVerdict(raw)));
  }

  private Future<Raw> exchange(HttpClientRequest request, Buffer form, long timeoutMs) {
    long timer =
        vertx.setTimer(
            timeoutMs, late -> request.reset(0, new TimeoutException("no answer in time")));
    return request
        .send(form)
        .compose(
            response ->
                body(response)
                    .map(
                        body ->
                            new Raw(
                                response.statusCode(), response.getHeader("Retry-After"), body)))
        .onComplete(done -> vertx.cancelTimer(timer));
  }

  private static Future<Buffer> body(HttpClientResponse response) {
    Promise<Buffer> promise = Promise.promise();
    Buffer body = Buffer.buffer();
    response.exceptionHandler(promise::tryFail);
    response.endHandler(end -> promise.tryComplete(body));
    response.handler(
        chunk -> {
          if (body.length() + chunk.length() <= ANSWER_BYTES_MAX) {
            body.appendBuffer(chunk);
          } else if (promise.tryFail(new IOException("an answer of too many bytes"))) {
            response.request().reset();
          }
        });
    return promise.future();
  }

  private Future<Answer> verdict(Question question, Call call, Raw raw) {
    JsonNode body = json(raw.body());
    Answer answer = new Answer(raw.status(), body);
    boolean refusal = raw.status() >= 400;
    return refusal || (answer.accepted() && body.isObject())
        ? Future.succeededFuture(answer)
        : gaveUp(question, call, "an answer that is not understood, status " + raw.status());
  }

  private static JsonNode json(Buffer body) {
    try {
      return Json.MAPPER.readTree(body.getBytes());
    } catch (IOException notJson) {
      return Json.MAPPER.missingNode();
    }
  }

  /** Ends the call without a verdict, and says why in the log. */
  <T> Future<T> gaveUp(Question question, Call call, String because) {
    gaveUp.increment();
    LOG.atWarn()
        .addKeyValue("requestId", call.requestId())
        .addKeyValue("merchantId", call.merchant() == null ? null : call.merchant().id())
        .log("{} gave up: {}", question, because);
    return FailureException.failed(
        new Failure.Unavailable(
            "gateway_unavailable", "The card gateway gives no usable answer.", RETRY_AFTER_S));
  }

  private static Buffer encode(Map<String, String> form) {
    return Buffer.buffer(
        form.entrySet().stream()
            .map(field -> encode(field.getKey()) + "=" + encode(field.getValue()))
            .collect(Collectors.joining("&")));
  }

  private static String encode(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8);
  }
}

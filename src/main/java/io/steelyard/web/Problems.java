package io.steelyard.web;

import io.steelyard.bus.Failure;
import io.steelyard.bus.Failure.Fault;
import io.steelyard.bus.FailureException;
import io.steelyard.json.Json;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The one place where a failure becomes a status and an {@code application/problem+json} body. */
public final class Problems {
  private static final Logger LOG = LoggerFactory.getLogger(Problems.class);
  private static final String TYPE = "urn:steelyard:problem:";

  private Problems() {}

  /** Answers {@code request} with what {@code error} means; nothing of its internals is shown. */
  public static void respond(HttpServerRequest request, String requestId, Throwable error) {
    if (error instanceof Refusal refusal) {
      refuse(request, requestId, refusal);
    } else if (error instanceof FailureException known) {
      fail(request, requestId, known.failure());
    } else {
      LOG.atError().addKeyValue("requestId", requestId).setCause(error).log("a request failed");
      fail(request, requestId, new Failure.Unexpected());
    }
  }

  /** The status that a failure is answered with. */
  public static int status(Failure failure) {
    return switch (failure) {
      case Failure.Invalid invalid -> 400;
      case Failure.NotFound notFound -> 404;
      case Failure.Conflict conflict -> 409;
      case Failure.Gone gone -> 410;
      case Failure.Rejected rejected -> 422;
      case Failure.Overloaded overloaded -> overloaded.code().equals("rate_limited") ? 429 : 503;
      case Failure.Unavailable unavailable -> 503;
      case Failure.TimedOut timedOut -> 504;
      case Failure.Unexpected unexpected -> 500;
    };
  }

  private static void refuse(HttpServerRequest request, String requestId, Refusal refusal) {
    HttpServerResponse response = request.response();
    if (response.ended() || response.closed()) {
      return;
    }
    refusal.headers().forEach(response::putHeader);
    Buffer body =
        body(requestId, refusal.status(), refusal.code(), refusal.getMessage(), List.of());
    if (refusal.isClosing()) {
      Closing.announce(request);
    }
    send(response, refusal.status(), body)
        .onComplete(
            done -> {
              if (refusal.isClosing()) {
                Closing.end(request);
              }
            });
  }

  private static void fail(HttpServerRequest request, String requestId, Failure failure) {
    HttpServerResponse response = request.response();
    if (response.ended() || response.closed()) {
      return;
    }
    int status = status(failure);
    List<Fault> faults = List.of();
    switch (failure) {
      case Failure.Invalid invalid -> faults = invalid.faults();
      case Failure.Rejected rejected -> faults = rejected.faults();
      case Failure.Overloaded overloaded -> retryAfter(response, overloaded.retryAfterS());
      case Failure.Unavailable unavailable -> retryAfter(response, unavailable.retryAfterS());
      case Failure.Conflict conflict -> {
        if (conflict.retryAfterS() != null) {
          retryAfter(response, conflict.retryAfterS());
        }
      }
      case Failure.NotFound n -> {}
      case Failure.Gone g -> {}
      case Failure.TimedOut t -> {}
      case Failure.Unexpected u -> {}
    }
    send(response, status, body(requestId, status, failure.code(), failure.detail(), faults));
  }

  private static void retryAfter(HttpServerResponse response, int seconds) {
    response.putHeader("retry-after", Integer.toString(seconds));
  }

  private static Future<Void> send(HttpServerResponse response, int status, Buffer body) {
    return response
        .setStatusCode(status)
        .putHeader("content-type", "application/problem+json")
        .end(body);
  }

  private static Buffer body(
      String requestId, int status, String code, String detail, List<Fault> faults) {
    Map<String, Object> problem = new LinkedHashMap<>();
    problem.put("type", TYPE + code);
    problem.put("title", title(code));
    problem.put("status", status);
    problem.put("detail", detail);
    problem.put("code", code);
    problem.put("requestId", requestId);
    if (!faults.isEmpty()) {
      List<Map<String, String>> errors = new ArrayList<>(faults.size());
      for (Fault fault : faults) {
        Map<String, String> error = new LinkedHashMap<>();
        if (fault.parameter() == null) {
          error.put("pointer", fault.pointer());
        } else {
          error.put("parameter", fault.parameter());
        }
        error.put("code", fault.code());
        error.put("message", fault.message());
        errors.add(error);
      }
      problem.put("errors", errors);
    }
    return Json.encode(problem);
  }

  /** {@code external_id_taken} reads {@code External id taken}. */
  private static String title(String code) {
    String words = code.replace('_', ' ');
    return Character.toUpperCase(words.charAt(0)) + words.substring(1);
  }
}

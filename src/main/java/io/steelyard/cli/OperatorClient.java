package io.steelyard.cli;

import io.steelyard.json.Json;
import java.io.IOException;
import java.net.ConnectException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.net.http.HttpTimeoutException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLHandshakeException;

/** The operator API of a running service. Blocking; every refusal is a {@link CommandFailure}. */
final class OperatorClient {
  private static final Duration CONNECT_LIMIT = Duration.ofSeconds(5);
  private static final int REFUSED_FROM = 300;
  private static final int UNAUTHENTICATED = 401;
  private static final String JSON = "application/json";

  private final URI base;
  private final String token;
  private final Duration limit;

  private final HttpClient client;

  /**
   * @param tls for a base that begins with https
   */
  OperatorClient(URI base, SSLContext tls, String token, Duration limit) {
    this.base = base;
    this.token = token;
    this.limit = limit;
    // Follows nothing: the token is for this service only.
    client =
        HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .sslContext(tls)
            .connectTimeout(CONNECT_LIMIT)
            .followRedirects(HttpClient.Redirect.NEVER)
            .build();
  }

  /** A segment of a path. */
  static String segment(String text) {
    return URLEncoder.encode(text, StandardCharsets.UTF_8).replace("+", "%20");
  }

  String get(String path, String accept) {
    return send(request(path).header("accept", accept).GET());
  }

  String post(String path, Object body) {
    return send(
        request(path)
            .header("content-type", JSON)
            .POST(BodyPublishers.ofString(Json.encodeText(body))));
  }

  String put(String path, byte[] body, String contentType) {
    BodyPublisher bytes = BodyPublishers.ofByteArray(body);
    return send(request(path).header("content-type", contentType).PUT(bytes));
  }

  void delete(String path) {
    send(request(path).DELETE());
  }

  private HttpRequest.Builder request(String path) {
    String root = base.toString().replaceAll("/+$", "");
    try {
      return HttpRequest.newBuilder(URI.create(root + path))
          .timeout(limit)
          .header("authorization", "Bearer " + token);
    } catch (IllegalArgumentException e) { // its message would show the token
      throw new CommandFailure("the operator token has characters that no header can carry");
    }
  }

  private String send(HttpRequest.Builder request) {
    try {
      HttpResponse<String> response = client.send(request.build(), BodyHandlers.ofString());
      if (response.statusCode() >= REFUSED_FROM) {
        throw refusal(response);
      }
      return response.body();
    } catch (HttpTimeoutException e) {
      throw new CommandFailure(
          "no answer from %s within %d s; whether it was done is not known"
              .formatted(base, limit.toSeconds()));
    } catch (ConnectException e) {
      throw new CommandFailure(
          "no service answers at " + base + ": start it, or name it with --url");
    } catch (SSLHandshakeException e) {
      throw new CommandFailure(
          "no TLS with %s (%s): nothing was done. Name its authority with --ca, a host that its"
                  .formatted(base, e.getMessage())
              + " certificate is for with --url, and what it asks for with --certificate and --key");
    } catch (IOException e) {
      throw new CommandFailure(
          "the connection to %s broke (%s); whether it was done is not known"
              .formatted(base, e.getMessage()));
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new CommandFailure("interrupted");
    }
  }

  private CommandFailure refusal(HttpResponse<String> response) {
    int status = response.statusCode();
    if (status == UNAUTHENTICATED) {
      return new CommandFailure("the service at " + base + " refuses this operator token");
    }
    Map<String, Object> problem = object(response.body());
    return new CommandFailure(
        "%d %s: %s (request %s)"
            .formatted(
                status, problem.get("code"), problem.get("detail"), problem.get("requestId")),
        faults(problem));
  }

  /** An answer that must be a JSON object. */
  Map<String, Object> object(String answer) {
    try {
      return Json.readMap(answer);
    } catch (IllegalStateException e) {
      throw new CommandFailure("what answers at " + base + " is not the operator API");
    }
  }

  private static List<String> faults(Map<String, Object> problem) {
    List<String> faults = new ArrayList<>();
    if (problem.get("errors") instanceof List<?> errors) {
      for (Object error : errors) {
        if (error instanceof Map<?, ?> fault) {
          Object where =
              fault.containsKey("pointer") ? fault.get("pointer") : fault.get("parameter");
          faults.add(where + ": " + fault.get("message"));
        }
      }
    }
    return faults;
  }
}

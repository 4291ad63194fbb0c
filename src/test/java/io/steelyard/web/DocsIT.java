package io.steelyard.web;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.json.Schemas;
import io.vertx.core.Vertx;
import io.vertx.core.http.HttpServer;
import io.vertx.core.json.JsonObject;
import io.vertx.ext.web.Router;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class DocsIT {
  private static final Pattern REFERENCE = Pattern.compile("(?:src|href)=\"([^\"]+)\"");

  private static Vertx vertx;
  private static HttpServer external;
  private static HttpServer operator;
  private static HttpClient client;

  @BeforeAll
  static void start() {
    vertx = Vertx.vertx();
    client = HttpClient.newHttpClient();
    external = serve(Schemas.external());
    operator = serve(Schemas.operator());
  }

  @AfterAll
  static void stop() {
    client.close();
    vertx.close().await();
  }

  private static HttpServer serve(Schemas document) {
    Router router = Router.router(vertx);
    DocsRoutes.mount(router, document);
    return vertx.createHttpServer().requestHandler(router).listen(0, "127.0.0.1").await();
  }

  private static HttpResponse<String> send(
      HttpServer server, String method, String path, String... headers)
      throws IOException, InterruptedException {
    HttpRequest.Builder request =
        HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + server.actualPort() + path))
            .version(HttpClient.Version.HTTP_1_1)
            .method(method, HttpRequest.BodyPublishers.noBody());
    if (headers.length > 0) {
      request.headers(headers);
    }
    return client.send(request.build(), HttpResponse.BodyHandlers.ofString());
  }

  private static HttpResponse<String> get(String path) throws IOException, InterruptedException {
    return send(external, "GET", path);
  }

  private static String header(HttpResponse<?> response, String name) {
    return response.headers().firstValue(name).orElse(null);
  }

  @Test
  void eachServerServesItsOwnDescription() throws Exception {
    HttpResponse<String> answer = get("/openapi.json");

    assertThat(answer.statusCode()).isEqualTo(200);
    assertThat(header(answer, "content-type")).isEqualTo("application/json");
    assertThat(new JsonObject(answer.body()).getJsonObject("paths").fieldNames())
        .contains("/external/event/", "/external/event");
    assertThat(
            new JsonObject(send(operator, "GET", "/openapi.json").body())
                .getJsonObject("paths")
                .fieldNames())
        .contains("/operator/merchants");
  }

  @ParameterizedTest
  @CsvSource({
    "/docs, text/html; charset=utf-8",
    "/docs/, text/html; charset=utf-8",
    "/docs/initializer.js, text/javascript; charset=utf-8",
    "/docs/swagger-ui-bundle.js, text/javascript; charset=utf-8",
    "/docs/swagger-ui-standalone-preset.js, text/javascript; charset=utf-8",
    "/docs/swagger-ui.css, text/css; charset=utf-8",
    "/docs/favicon-16x16.png, image/png",
    "/docs/favicon-32x32.png, image/png",
    "/favicon.ico, image/png",
  })
  void thePageAndItsPartsNeedNoKeyAndAreProtected(String path, String type) throws Exception {
    HttpResponse<String> answer = get(path);

    assertThat(answer.statusCode()).isEqualTo(200);
    assertThat(answer.body()).isNotEmpty();
    assertThat(header(answer, "content-type")).isEqualTo(type);
    assertThat(header(answer, "x-content-type-options")).isEqualTo("nosniff");
    assertThat(header(answer, "cache-control")).isNotEmpty();
    assertThat(header(answer, "content-security-policy"))
        .contains("default-src 'none'", "script-src 'self';", "connect-src 'self'")
        .doesNotContain("unsafe-eval");
  }

  @Test
  void everyFileThatThePageNamesIsServedHere() throws Exception {
    Matcher references = REFERENCE.matcher(get("/docs").body());
    int found = 0;
    while (references.find()) {
      found++;
      assertThat(references.group(1)).startsWith("/").doesNotStartWith("//");
      assertThat(get(references.group(1)).statusCode()).isEqualTo(200);
    }
    assertThat(found).isEqualTo(7);
  }

  @ParameterizedTest
  @ValueSource(strings = {"/docs", "/docs/initializer.js"})
  void ourFilesNameNoOtherHost(String path) throws Exception {
    assertThat(get(path).body()).doesNotContain("http:", "https:", "\"//", "'//");
  }

  @Test
  void thePageHasNoScriptOfItsOwn() throws Exception {
    assertThat(get("/docs").body())
        .doesNotContainPattern("<script(?![^>]*\\ssrc=)")
        .doesNotContainPattern("\\son[a-z]+=")
        .doesNotContain("javascript:", "<style");
  }

  @Test
  void whatTheClientHasIsNotSentAgain() throws Exception {
    String etag = header(get("/docs/swagger-ui-bundle.js"), "etag");

    HttpResponse<String> again =
        send(external, "GET", "/docs/swagger-ui-bundle.js", "if-none-match", "\"x\", W/" + etag);
    assertThat(again.statusCode()).isEqualTo(304);
    assertThat(again.body()).isEmpty();
    assertThat(header(again, "etag")).isEqualTo(etag);

    HttpResponse<String> other =
        send(external, "GET", "/docs/swagger-ui-bundle.js", "if-none-match", "\"x\"");
    assertThat(other.statusCode()).isEqualTo(200);
    assertThat(header(get("/openapi.json"), "etag"))
        .isNotEqualTo(header(send(operator, "GET", "/openapi.json"), "etag"));
  }

  @Test
  void aHeadRequestTellsTheLengthWithoutTheBody() throws Exception {
    HttpResponse<String> whole = get("/openapi.json");

    HttpResponse<String> head = send(external, "HEAD", "/openapi.json");

    assertThat(head.statusCode()).isEqualTo(200);
    assertThat(head.body()).isEmpty();
    assertThat(header(head, "content-length")).isEqualTo(header(whole, "content-length"));
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "/docs/index.html",
        "/docs/../openapi/external.yaml",
        "/docs/%2e%2e/conf/config.json",
        "/docs/swagger-ui.js"
      })
  void nothingElseOfTheClasspathIsServed(String path) throws Exception {
    assertThat(get(path).statusCode()).isEqualTo(404);
  }

  @Test
  void otherMethodsAreNotAnsweredHere() throws Exception {
    assertThat(send(external, "POST", "/docs").statusCode()).isEqualTo(405);
  }
}

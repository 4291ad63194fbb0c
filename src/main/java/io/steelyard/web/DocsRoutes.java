package io.steelyard.web;

import io.steelyard.json.Schemas;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpMethod;
import io.vertx.core.http.HttpServerRequest;
import io.vertx.core.http.HttpServerResponse;
import io.vertx.ext.web.Router;
import io.vertx.ext.web.RoutingContext;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.function.Supplier;

/**
 * The description of an API for machines at {@code /openapi.json} and for people at {@code /docs}.
 * Everything comes from this server, and needs no key: mount it before authentication.
 */
public final class DocsRoutes {
  private static final String WEBJAR = "META-INF/resources/webjars/swagger-ui/5.34.1/";

  /**
   * The page lays itself out with style elements and inline images. Its scripts are files of this
   * server only, and it talks to this server only.
   */
  private static final String CONTENT_SECURITY_POLICY =
      "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
          + "img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; "
          + "frame-ancestors 'none'";

  /** May change with every release under the same path: asked for again, mostly answered 304. */
  private static final String REVALIDATE = "no-cache";

  private static final String KEEP_FOR_A_DAY = "public, max-age=86400";

  private static final List<Asset> ASSETS =
      List.of(
          new Asset("/docs", "web/docs/index.html", "text/html; charset=utf-8", REVALIDATE),
          script("/docs/initializer.js", "web/docs/initializer.js", REVALIDATE),
          script("/docs/swagger-ui-bundle.js", WEBJAR + "swagger-ui-bundle.js", KEEP_FOR_A_DAY),
          script(
              "/docs/swagger-ui-standalone-preset.js",
              WEBJAR + "swagger-ui-standalone-preset.js",
              KEEP_FOR_A_DAY),
          new Asset(
              "/docs/swagger-ui.css",
              WEBJAR + "swagger-ui.css",
              "text/css; charset=utf-8",
              KEEP_FOR_A_DAY),
          image("/docs/favicon-16x16.png", "favicon-16x16.png"),
          image("/docs/favicon-32x32.png", "favicon-32x32.png"),
          image("/favicon.ico", "favicon-32x32.png"));

  /** Of all instances of a process, by what is read: an {@link Asset} or a {@link Schemas}. */
  private static final ConcurrentMap<Object, Content> CONTENTS = new ConcurrentHashMap<>();

  private DocsRoutes() {}

  private record Asset(String path, String resource, String contentType, String cacheControl) {}

  /** What one path answers. */
  private record Content(Buffer bytes, String contentType, String cacheControl, String etag) {
    Content(Buffer bytes, String contentType, String cacheControl) {
      this(bytes, contentType, cacheControl, etagOf(bytes));
    }

    static Content of(Asset asset) {
      return new Content(read(asset.resource()), asset.contentType(), asset.cacheControl());
    }

    static Content of(Schemas document) {
      return new Content(document.json(), "application/json", REVALIDATE);
    }
  }

  /**
   * Mounts the description {@code document} and the page that shows it. Each is read when it is
   * first asked for: to read and hash them all takes a tenth of a start.
   */
  public static void mount(Router router, Schemas document) {
    mount(router, "/openapi.json", document, () -> Content.of(document));
    for (Asset asset : ASSETS) {
      mount(router, asset.path(), asset, () -> Content.of(asset));
    }
  }

  private static void mount(Router router, String path, Object key, Supplier<Content> read) {
    router
        .route(path)
        .method(HttpMethod.GET)
        .method(HttpMethod.HEAD)
        .handler(
            context -> {
              Content known = CONTENTS.get(key);
              if (known != null) {
                answer(context, known);
                return;
              }
              context
                  .vertx()
                  .executeBlocking(() -> CONTENTS.computeIfAbsent(key, absent -> read.get()), false)
                  .onSuccess(content -> answer(context, content))
                  .onFailure(context::fail);
            });
  }

  private static void answer(RoutingContext context, Content content) {
    HttpServerRequest request = context.request();
    HttpServerResponse response =
        context
            .response()
            .putHeader("etag", content.etag())
            .putHeader("cache-control", content.cacheControl())
            .putHeader("content-security-policy", CONTENT_SECURITY_POLICY)
            .putHeader("referrer-policy", "no-referrer")
            .putHeader("x-content-type-options", "nosniff");
    if (names(request.getHeader("if-none-match"), content.etag())) {
      response.setStatusCode(304).end();
      return;
    }
    response.putHeader("content-type", content.contentType());
    if (request.method() == HttpMethod.HEAD) {
      response.putHeader("content-length", Integer.toString(content.bytes().length())).end();
    } else {
      response.end(content.bytes());
    }
  }

  private static boolean names(String ifNoneMatch, String etag) {
    if (ifNoneMatch == null) {
      return false;
    }
    for (String candidate : ifNoneMatch.split(",")) {
      String tag = candidate.strip();
      if (tag.equals("*") || tag.equals(etag) || tag.equals("W/" + etag)) {
        return true;
      }
    }
    return false;
  }

  private static String etagOf(Buffer bytes) {
    try {
      byte[] hash = MessageDigest.getInstance("SHA-256").digest(bytes.getBytes());
      return '"' + HexFormat.of().formatHex(hash, 0, 16) + '"';
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java has SHA-256", e);
    }
  }

  private static Buffer read(String resource) {
    try (InputStream in = DocsRoutes.class.getClassLoader().getResourceAsStream(resource)) {
      if (in == null) {
        throw new IllegalStateException("no resource " + resource);
      }
      return Buffer.buffer(in.readAllBytes());
    } catch (IOException e) {
      throw new UncheckedIOException("cannot read " + resource, e);
    }
  }

  private static Asset script(String path, String resource, String cacheControl) {
    return new Asset(path, resource, "text/javascript; charset=utf-8", cacheControl);
  }

  private static Asset image(String path, String file) {
    return new Asset(path, WEBJAR + file, "image/png", KEEP_FOR_A_DAY);
  }
}

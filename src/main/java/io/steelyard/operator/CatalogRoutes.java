package io.steelyard.operator;

import io.steelyard.bus.Bus;
import io.steelyard.bus.Failure;
import io.steelyard.catalog.CatalogMessages.ApplyCatalog;
import io.steelyard.catalog.CatalogMessages.ExportCatalog;
import io.steelyard.catalog.CatalogParser;
import io.steelyard.catalog.CatalogYaml;
import io.steelyard.config.Config;
import io.steelyard.json.StrictJson;
import io.steelyard.json.Validator;
import io.steelyard.web.Answer;
import io.steelyard.web.Bodies;
import io.steelyard.web.Endpoint;
import io.steelyard.web.Exchange;
import io.vertx.core.Future;
import io.vertx.core.buffer.Buffer;
import io.vertx.core.http.HttpServerRequest;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.List;

/** A merchant's catalogue as one document, in JSON or YAML. */
final class CatalogRoutes {
  private static final String CATALOG = "/operator/merchants/{id}/catalog";
  private static final String YAML = "yaml";

  private final Bus bus;
  private final Validator schemas;
  private final MerchantScope scope;
  private final StrictJson json;

  CatalogRoutes(Bus bus, Validator schemas, MerchantScope scope, Config config) {
    this.bus = bus;
    this.schemas = schemas;
    this.scope = scope;
    this.json = new StrictJson(config.limits());
  }

  List<Endpoint> endpoints() {
    return List.of(
        Endpoint.put(CATALOG, this::apply).reading(Endpoint.Body.RAW_JSON_OR_YAML),
        Endpoint.get(CATALOG, this::export));
  }

  private Future<Answer> apply(Exchange exchange) {
    exchange.query().check();
    Object tree = tree(exchange);
    Bodies.check(schemas.check("Catalog", tree));
    ApplyCatalog apply = new ApplyCatalog(CatalogParser.document(tree));
    return scope.of(exchange).compose(call -> bus.ask(apply, call)).map(Answer::ok);
  }

  private Object tree(Exchange exchange) {
    if (names(exchange.request(), "content-type")) {
      return CatalogParser.yaml(text(exchange.body()));
    }
    StrictJson.Result result = json.read(exchange.body());
    Bodies.check(result.faults());
    return result.value();
  }

  private static String text(Buffer body) {
    try {
      return StandardCharsets.UTF_8
          .newDecoder()
          .decode(ByteBuffer.wrap(body.getBytes()))
          .toString();
    } catch (CharacterCodingException e) {
      throw Failure.invalid("", "invalid_encoding", "Must be UTF-8.").asException();
    }
  }

  private Future<Answer> export(Exchange exchange) {
    exchange.query().check();
    boolean yaml = names(exchange.request(), "accept");
    return scope
        .of(exchange)
        .compose(call -> bus.ask(new ExportCatalog(), call))
        .map(
            exported ->
                yaml
                    ? new Answer(
                        200,
                        "application/yaml",
                        Buffer.buffer(CatalogYaml.write(exported.document())))
                    : Answer.ok(exported.document()));
  }

  private static boolean names(HttpServerRequest request, String header) {
    String value = request.getHeader(header);
    return value != null && value.contains(YAML);
  }
}

package io.steelyard.json;

import io.steelyard.bus.Failure.Fault;
import io.vertx.json.schema.Draft;
import io.vertx.json.schema.JsonSchema;
import io.vertx.json.schema.JsonSchemaOptions;
import io.vertx.json.schema.OutputFormat;
import io.vertx.json.schema.OutputUnit;
import io.vertx.json.schema.SchemaRepository;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Checks trees against the component schemas of a document. For one event loop. */
public final class Validator {
  private static final JsonSchemaOptions OPTIONS =
      new JsonSchemaOptions()
          .setBaseUri("https://schemas.steelyard.invalid/")
          .setDraft(Draft.DRAFT202012)
          .setOutputFormat(OutputFormat.Basic);

  private final Schemas schemas;
  private final SchemaRepository repository = SchemaRepository.create(OPTIONS, new Formats());
  private final Map<String, io.vertx.json.schema.Validator> validators = new HashMap<>();

  Validator(Schemas schemas) {
    this.schemas = schemas;
  }

  /** All faults of a whole body, or none. */
  public List<Fault> check(String schema, Object tree) {
    return check(schema, tree, Pointer.ROOT);
  }

  /**
   * All faults of a tree, or none; at most one for a place.
   *
   * @param schema name of the component
   * @param tree as {@link StrictJson} reads it
   * @param pointerPrefix where in the body the tree is
   */
  public List<Fault> check(String schema, Object tree, String pointerPrefix) {
    OutputUnit output = validator(schema).validate(tree);
    return output.getValid()
        ? List.of()
        : new FaultNaming(location -> schemas.at(schema, location), tree, pointerPrefix)
            .name(output.getErrors());
  }

  /** As {@link #check} for every item of an array that is the whole body. */
  public List<Fault> checkEach(String itemSchema, List<?> items) {
    List<Fault> faults = new ArrayList<>();
    for (int i = 0; i < items.size() && faults.size() < StrictJson.FAULTS_MAX; i++) {
      faults.addAll(check(itemSchema, items.get(i), Pointer.child(Pointer.ROOT, i)));
    }
    return faults;
  }

  private io.vertx.json.schema.Validator validator(String schema) {
    return validators.computeIfAbsent(
        schema,
        name -> repository.validator(JsonSchema.of(schemas.compiled(name)), OPTIONS, false));
  }
}

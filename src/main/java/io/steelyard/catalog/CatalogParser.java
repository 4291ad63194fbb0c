package io.steelyard.catalog;

import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.databind.DeserializationContext;
import com.fasterxml.jackson.databind.JsonMappingException;
import com.fasterxml.jackson.databind.MapperFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.cfg.CoercionAction;
import com.fasterxml.jackson.databind.cfg.CoercionInputShape;
import com.fasterxml.jackson.databind.deser.std.StdDeserializer;
import com.fasterxml.jackson.databind.exc.UnrecognizedPropertyException;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.module.SimpleModule;
import com.fasterxml.jackson.databind.type.LogicalType;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import com.fasterxml.jackson.dataformat.yaml.YAMLParser;
import io.steelyard.bus.Failure;
import io.steelyard.bus.FailureException;
import io.steelyard.json.Json;
import java.io.IOException;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.yaml.snakeyaml.LoaderOptions;

/**
 * Reads a catalogue from YAML, and makes a document of a tree from there or from JSON. Of YAML only
 * what JSON also has is taken: no aliases, no tags, one document; a plain scalar is a number only
 * where JSON would have one, so that {@code 010} and {@code 2024-01-01} stay text. The result is a
 * tree of maps, lists, text, exact decimals, booleans and nulls.
 */
public final class CatalogParser {
  private static final String MALFORMED = "malformed_yaml";
  private static final int DEPTH_MAX = 64;
  private static final int TEXT_CHARS_MAX = 8192;
  private static final int NUMBER_CHARS_MAX = 256;
  private static final int DOCUMENT_CHARS_MAX = 8 << 20;
  private static final Pattern NUMBER =
      Pattern.compile("-?(0|[1-9]\\d*)(\\.\\d+)?([eE][+-]?\\d+)?");

  private static final StreamReadConstraints CONSTRAINTS =
      StreamReadConstraints.builder()
          .maxNestingDepth(DEPTH_MAX)
          .maxStringLength(TEXT_CHARS_MAX)
          .maxNameLength(TEXT_CHARS_MAX)
          .maxNumberLength(NUMBER_CHARS_MAX)
          .build();
  private static final YAMLFactory YAML =
      YAMLFactory.builder()
          .streamReadConstraints(CONSTRAINTS)
          .loaderOptions(yamlOptions())
          .enable(YAMLParser.Feature.PARSE_BOOLEAN_LIKE_WORDS_AS_STRINGS)
          .build();

  /** Takes text for text and numbers for numbers only. */
  private static final ObjectMapper STRICT = strict();

  private final JsonParser in;

  private CatalogParser(JsonParser in) {
    this.in = in;
  }

  /**
   * @throws FailureException with code {@code malformed_yaml}
   */
  public static Object yaml(String text) {
    try (JsonParser in = YAML.createParser(text)) {
      return new CatalogParser(in).whole();
    } catch (JsonProcessingException e) {
      String where =
          e.getLocation() == null
              ? ""
              : " at line %d, column %d"
                  .formatted(e.getLocation().getLineNr(), e.getLocation().getColumnNr());
      throw Failure.invalid("", MALFORMED, "cannot be read" + where).asException();
    } catch (IOException e) {
      throw Failure.invalid("", MALFORMED, "cannot be read").asException();
    }
  }

  /**
   * The document that a tree spells. Its form is the schema's business; what has no place in a
   * document at all is refused here too.
   *
   * @throws FailureException naming the place
   */
  public static CatalogDocument document(Object tree) {
    if (!(tree instanceof Map)) {
      throw Failure.invalid("", "wrong_type", "must be an object").asException();
    }
    try {
      return STRICT.convertValue(tree, CatalogDocument.class);
    } catch (IllegalArgumentException e) {
      throw unreadable(e).asException();
    }
  }

  private static Failure unreadable(IllegalArgumentException error) {
    if (!(error.getCause() instanceof JsonMappingException cause)) {
      return Failure.invalid("", "wrong_type", "is not a catalogue");
    }
    StringBuilder pointer = new StringBuilder();
    for (JsonMappingException.Reference step : cause.getPath()) {
      pointer.append(
          step.getFieldName() == null ? "/" + step.getIndex() : Faults.step(step.getFieldName()));
    }
    return cause instanceof UnrecognizedPropertyException
        ? Failure.invalid(pointer.toString(), "unknown_property", "is not known")
        : Failure.invalid(pointer.toString(), "wrong_type", "has no such value");
  }

  private static ObjectMapper strict() {
    SimpleModule wholeNumbers = new SimpleModule("whole-numbers");
    wholeNumbers.addDeserializer(
        Integer.class,
        new StdDeserializer<>(Integer.class) {
          private static final long serialVersionUID = 1L;

          @Override
          public Integer deserialize(JsonParser in, DeserializationContext context)
              throws IOException {
            return in.getDecimalValue().intValueExact();
          }
        });
    ObjectMapper mapper =
        ((JsonMapper) Json.MAPPER)
            .rebuild()
            .disable(MapperFeature.ALLOW_COERCION_OF_SCALARS)
            .addModule(wholeNumbers)
            .build();
    mapper
        .coercionConfigFor(LogicalType.Textual)
        .setCoercion(CoercionInputShape.Integer, CoercionAction.Fail)
        .setCoercion(CoercionInputShape.Float, CoercionAction.Fail)
        .setCoercion(CoercionInputShape.Boolean, CoercionAction.Fail);
    return mapper;
  }

  private static LoaderOptions yamlOptions() {
    LoaderOptions options = new LoaderOptions();
    options.setCodePointLimit(DOCUMENT_CHARS_MAX);
    options.setNestingDepthLimit(DEPTH_MAX);
    options.setMaxAliasesForCollections(0);
    return options;
  }

  private Object whole() throws IOException {
    if (in.nextToken() == null) {
      throw malformed("", "is empty");
    }
    Object tree = value("", 1);
    if (in.nextToken() != null) {
      throw malformed("", "goes on after its end");
    }
    return tree;
  }

  private Object value(String at, int depth) throws IOException {
    if (depth > DEPTH_MAX) {
      throw malformed(at, "is nested too deeply");
    }
    if (in instanceof YAMLParser yaml && yaml.isCurrentAlias()) {
      throw malformed(at, "must not be an alias");
    }
    if (in.getTypeId() != null) {
      throw malformed(at, "must not have a tag");
    }
    return switch (in.currentToken()) {
      case START_OBJECT -> object(at, depth);
      case START_ARRAY -> array(at, depth);
      case VALUE_STRING -> text(at, in.getText());
      case VALUE_NUMBER_INT, VALUE_NUMBER_FLOAT -> number(at, in.getText());
      case VALUE_TRUE -> true;
      case VALUE_FALSE -> false;
      case VALUE_NULL -> null;
      case VALUE_EMBEDDED_OBJECT, NOT_AVAILABLE, FIELD_NAME, END_OBJECT, END_ARRAY ->
          throw malformed(at, "cannot be read");
    };
  }

  private Map<String, Object> object(String at, int depth) throws IOException {
    Map<String, Object> members = new LinkedHashMap<>();
    while (in.nextToken() != JsonToken.END_OBJECT) {
      String name = text(at, in.currentName());
      String memberAt = at + Faults.step(name);
      in.nextToken();
      if (members.containsKey(name)) {
        throw malformed(memberAt, "appears twice");
      }
      members.put(name, value(memberAt, depth + 1));
    }
    return members;
  }

  private List<Object> array(String at, int depth) throws IOException {
    List<Object> elements = new ArrayList<>();
    while (in.nextToken() != JsonToken.END_ARRAY) {
      elements.add(value(at + "/" + elements.size(), depth + 1));
    }
    return elements;
  }

  private String text(String at, String text) {
    if (text.length() > TEXT_CHARS_MAX) {
      throw malformed(at, "has more than " + TEXT_CHARS_MAX + " characters");
    }
    boolean storable =
        text.codePoints()
            .allMatch(c -> c != 0 && (c < Character.MIN_SURROGATE || c > Character.MAX_SURROGATE));
    if (!storable) {
      throw malformed(at, "has characters that cannot be stored");
    }
    return text;
  }

  /** The number as written, or the text where only YAML's older rules see a number. */
  private Object number(String at, String written) {
    if (written.length() > NUMBER_CHARS_MAX) {
      throw malformed(at, "has too many digits");
    }
    if (!NUMBER.matcher(written).matches()) {
      return text(at, written);
    }
    BigDecimal number;
    try {
      number = new BigDecimal(written);
    } catch (NumberFormatException e) { // the exponent does not fit an int
      throw malformed(at, "is out of range");
    }
    if (!Faults.inBounds(number)) {
      throw malformed(at, "is out of range");
    }
    return number;
  }

  private FailureException malformed(String at, String message) {
    return Failure.invalid(at, MALFORMED, message).asException();
  }
}

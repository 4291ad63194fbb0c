package io.steelyard.catalog;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamWriteFeature;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import com.fasterxml.jackson.dataformat.yaml.YAMLGenerator;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import io.steelyard.json.Json;
import java.util.Map;

/** Writes a catalogue as YAML. All text is quoted, so that it reads back as the same text. */
public final class CatalogYaml {
  private static final YAMLMapper MAPPER =
      YAMLMapper.builder(
              YAMLFactory.builder()
                  .disable(YAMLGenerator.Feature.WRITE_DOC_START_MARKER)
                  .disable(YAMLGenerator.Feature.SPLIT_LINES)
                  .build())
          .enable(StreamWriteFeature.WRITE_BIGDECIMAL_AS_PLAIN)
          .build();

  private CatalogYaml() {}

  public static String write(CatalogDocument document) {
    try {
      return MAPPER.writeValueAsString(Json.MAPPER.convertValue(document, Map.class));
    } catch (JsonProcessingException e) {
      throw new IllegalStateException("cannot write a catalogue as YAML", e);
    }
  }
}

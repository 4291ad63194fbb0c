package io.steelyard.cli;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.steelyard.json.Json;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;

/**
 * How to reach a service with an embedded database, in a file beside that, for its owner only.
 *
 * @param url of the management port
 * @param token that the start made; null where it is set and so known
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record OperatorNote(String url, String token) {
  public static final String FILE = "operator.json";

  public String text() {
    return Json.encodeText(this);
  }

  /** The note of the service that runs there, or last ran; empty where none ever did. */
  static Optional<OperatorNote> read(Path dataDir) {
    Path file = dataDir.resolve(FILE);
    if (!Files.isReadable(file)) {
      return Optional.empty();
    }
    try {
      Map<String, Object> note = Json.readMap(Files.readString(file));
      return Optional.of(new OperatorNote((String) note.get("url"), (String) note.get("token")));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Without the token, for logs. */
  @Override
  public String toString() {
    return "OperatorNote[url=" + url + "]";
  }
}

package io.steelyard.usage;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonLocation;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.exc.StreamConstraintsException;
import io.steelyard.bus.Failure;
import io.steelyard.config.Config;
import io.steelyard.json.Utf8;
import io.vertx.core.buffer.Buffer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.List;

/**
 * Reads the body of an ingestion request in one pass, without a tree: one event or an array of
 * them. Holds nothing between calls, so that one decoder serves every thread.
 */
public final class EventDecoder {
  private final Config.Limits limits;
  private final JsonFactory factory;

  public EventDecoder(Config.Limits limits) {
    this.limits = limits;
    // Lengths are bounded by the body and checked where they can be named; only the depth must
    // stop the parser itself. Its hash-overflow check would throw what no caller expects.
    this.factory =
        JsonFactory.builder()
            .disable(JsonFactory.Feature.INTERN_FIELD_NAMES)
            .disable(JsonFactory.Feature.FAIL_ON_SYMBOL_HASH_OVERFLOW)
            .disable(JsonFactory.Feature.CHARSET_DETECTION)
            .streamReadConstraints(
                StreamReadConstraints.builder()
                    .maxNestingDepth(limits.jsonDepth())
                    .maxStringLength(Integer.MAX_VALUE)
                    .maxNameLength(Integer.MAX_VALUE)
                    .maxNumberLength(Integer.MAX_VALUE)
                    .build())
            .build();
  }

  /** Every event of {@code body}, or every fault; never throws for what a caller may send. */
  public Decoded decode(Buffer body) {
    byte[] bytes = body.getBytes();
    EncodedEvents usual = UsualEvents.of(bytes, limits);
    return usual == null ? decodeStrictly(bytes) : new Decoded.Events(usual);
  }

  /** Knows all that may be sent, and every fault. */
  Decoded decodeStrictly(byte[] bytes) {
    if (isBlank(bytes)) {
      return fault("", "empty_body", "A body is required.");
    }
    int malformed = Utf8.firstFault(bytes);
    if (malformed >= 0) {
      return fault(
          "",
          "invalid_encoding",
          "The body must be UTF-8 without a byte order mark; it is not at byte " + malformed + ".");
    }
    try (JsonParser parser = factory.createParser(bytes)) {
      return read(parser, bytes);
    } catch (IOException e) {
      throw new UncheckedIOException("reading an array of bytes", e);
    }
  }

  private Decoded read(JsonParser parser, byte[] bytes) throws IOException {
    EventReader reader = new EventReader(parser, bytes, limits);
    try {
      return reader.readBody();
    } catch (StreamConstraintsException e) {
      reader
          .faults()
          .add(
              parser.getParsingContext().pathAsPointer().toString(),
              "too_deep",
              "At most " + limits.jsonDepth() + " levels of nesting are allowed.");
      return reader.faults().asDecoded();
    } catch (JsonProcessingException e) {
      return fault("", "malformed_json", "Malformed JSON" + position(e.getLocation()) + ".");
    }
  }

  private static String position(JsonLocation location) {
    return location == null
        ? ""
        : " at line " + location.getLineNr() + ", column " + location.getColumnNr();
  }

  private static boolean isBlank(byte[] bytes) {
    for (byte b : bytes) {
      if (b != ' ' && b != '\n' && b != '\r' && b != '\t') {
        return false;
      }
    }
    return true;
  }

  private static Decoded fault(String pointer, String code, String message) {
    return new Decoded.Faults(
        new Failure.Invalid(List.of(Failure.Fault.at(pointer, code, message))));
  }
}

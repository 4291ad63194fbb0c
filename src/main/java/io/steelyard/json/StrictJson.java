package io.steelyard.json;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.exc.StreamConstraintsException;
import com.fasterxml.jackson.core.exc.StreamReadException;
import io.steelyard.bus.Failure.Fault;
import io.steelyard.config.Config;
import io.vertx.core.buffer.Buffer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;

/**
 * Reads an untrusted body: strict JSON (RFC 8259) in strict UTF-8, one value, nothing else. Every
 * fault is collected, not only the first; after a fault of syntax or encoding nothing more can be
 * known. Instances are immutable.
 */
public final class StrictJson {
  /** A body of faults only could have millions of them. */
  public static final int FAULTS_MAX = 10_000;

  private static final int DEPTH_TO_SKIP_MAX = 1000;
  private final JsonFactory factory;
  private final Bounds bounds;

  /**
   * @param value {@code Map<String, Object>}, {@code List<Object>}, String, Boolean or null; whole
   *     numbers, also {@code 1.0}, as Integer, Long or BigInteger, others as exact BigDecimal
   * @param faults when not empty, {@code value} is what could be read and must not be used
   */
  public record Result(Object value, List<Fault> faults) {
    public Result {
      faults = List.copyOf(faults);
    }

    public boolean isValid() {
      return faults.isEmpty();
    }

    static Result failed(Fault fault) {
      return new Result(null, List.of(fault));
    }
  }

  /**
   * @param values how many values one body may hold, counting every level: what the largest bulk
   *     body needs, since a schema's errors take far more room than the values themselves
   */
  record Bounds(int depth, int stringChars, int values) {}

  public StrictJson(Config.Limits limits) {
    int items = Math.max(limits.customersPerBulk(), limits.subscriptionsPerBulk());
    bounds = new Bounds(limits.jsonDepth(), limits.stringChars(), Math.max(100_000, 32 * items));
    factory =
        JsonFactory.builder()
            // No table of names: it is shared, and names chosen to collide would fill it.
            .disable(JsonFactory.Feature.CANONICALIZE_FIELD_NAMES)
            .disable(JsonFactory.Feature.INTERN_FIELD_NAMES)
            .streamReadConstraints(
                StreamReadConstraints.builder()
                    .maxNestingDepth(limits.jsonDepth() + DEPTH_TO_SKIP_MAX)
                    .maxNumberLength(Integer.MAX_VALUE)
                    .maxStringLength(Integer.MAX_VALUE)
                    .maxNameLength(Integer.MAX_VALUE)
                    .build())
            .build();
  }

  public Result read(Buffer body) {
    if (body == null || body.length() == 0) {
      return empty();
    }
    byte[] bytes = body.getBytes();
    int fault = Utf8.firstFault(bytes);
    if (fault >= 0) {
      return Result.failed(
          Fault.at(
              Pointer.ROOT,
              "invalid_encoding",
              "The body is not strict UTF-8 at byte " + (fault + 1) + "."));
    }
    return parse(new String(bytes, StandardCharsets.UTF_8).toCharArray());
  }

  private Result parse(char[] chars) {
    try (JsonParser parser = factory.createParser(chars)) {
      TreeReader reader = new TreeReader(parser, bounds);
      try {
        return reader.read() ? reader.result() : empty();
      } catch (StreamConstraintsException e) {
        return reader.tooDeep();
      } catch (StreamReadException e) {
        return reader.malformed(e);
      }
    } catch (IOException e) {
      throw new UncheckedIOException("reading from memory failed", e);
    }
  }

  private static Result empty() {
    return Result.failed(Fault.at(Pointer.ROOT, "empty_body", "A JSON body is required."));
  }
}

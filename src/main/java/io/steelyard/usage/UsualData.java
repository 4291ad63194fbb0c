package io.steelyard.usage;

import io.steelyard.config.Config;
import java.nio.charset.StandardCharsets;

/** The part of {@link UsualEvents} that goes over an event's data, as {@link DataReader} would. */
final class UsualData {
  private static final byte[] TRUE = "true".getBytes(StandardCharsets.US_ASCII);
  private static final byte[] FALSE = "false".getBytes(StandardCharsets.US_ASCII);
  private static final byte[] NULL = "null".getBytes(StandardCharsets.US_ASCII);
  private static final int DEPTH_MAX = 16; // few are as deep, and each level takes stack

  private final PlainJson in;
  private final byte[] body;
  private final int charsMax;
  private final int depthMax;
  private final CanonicalForm canonical;

  UsualData(PlainJson in, byte[] body, Config.Limits limits, CanonicalForm canonical) {
    this.in = in;
    this.body = body;
    this.charsMax = limits.stringChars();
    this.depthMax = Math.min(limits.jsonDepth(), DEPTH_MAX);
    this.canonical = canonical;
  }

  /**
   * @param depth of the object's members in the whole body
   */
  boolean readObject(int depth) {
    if (depth > depthMax || !in.take('{')) {
      return false;
    }
    canonical.startObject();
    if (in.peek() != '}') {
      do {
        if (!readName() || !in.take(':') || !readValue(depth)) {
          return false;
        }
      } while (in.take(','));
    }
    return in.take('}') && canonical.endObject().isEmpty();
  }

  private boolean readName() {
    if (!takeText()) {
      return false;
    }
    canonical.name(body, in.textFrom(), in.textEnd());
    return true;
  }

  private boolean readValue(int depth) {
    return switch (in.peek()) {
      case '"' -> readText();
      case '{' -> readObject(depth + 1);
      case '[' -> readArray(depth + 1);
      case 't' -> readLiteral('t', TRUE);
      case 'f' -> readLiteral('f', FALSE);
      case 'n' -> readLiteral('z', NULL);
      default -> readNumber();
    };
  }

  private boolean readText() {
    if (!takeText()) {
      return false;
    }
    canonical.text(body, in.textFrom(), in.textEnd());
    return true;
  }

  private boolean takeText() {
    return in.takeText() && in.textEnd() - in.textFrom() <= charsMax;
  }

  private boolean readArray(int depth) {
    if (depth > depthMax || !in.take('[')) {
      return false;
    }
    canonical.startArray();
    if (in.peek() != ']') {
      do {
        if (!readValue(depth)) {
          return false;
        }
      } while (in.take(','));
    }
    canonical.endArray();
    return in.take(']');
  }

  private boolean readLiteral(char kind, byte[] word) {
    canonical.literal(kind);
    return in.take(word);
  }

  private boolean readNumber() {
    if (!in.takeNumber()) {
      return false;
    }
    canonical.number(in.digits(), -in.decimals());
    return true;
  }
}

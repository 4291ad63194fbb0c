package io.steelyard.usage;

import io.steelyard.config.Config;

/** The part of {@link UsualEvents} that goes over an event's data, as {@link DataReader} would. */
final class UsualData {
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
      case 't' -> readLiteral("true");
      case 'f' -> readLiteral("false");
      case 'n' -> readNull();
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

  private boolean readLiteral(String word) {
    canonical.literal(word.charAt(0));
    return in.takeWord(word);
  }

  private boolean readNull() {
    canonical.literal('z');
    return in.takeWord("null");
  }

  private boolean readNumber() {
    if (!in.takeNumber()) {
      return false;
    }
    canonical.number(in.digits(), -in.decimals());
    return true;
  }
}

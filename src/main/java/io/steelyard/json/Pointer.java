package io.steelyard.json;

/** JSON pointers (RFC 6901) that can always be written into an answer. */
final class Pointer {
  static final String ROOT = "";

  private static final int NAME_CHARS_MAX = 100;

  private Pointer() {}

  static String child(String parent, String name) {
    return parent + '/' + printable(name).replace("~", "~0").replace("/", "~1");
  }

  static String child(String parent, int index) {
    return parent + '/' + index;
  }

  /** A name is the client's: one of megabytes, or one that UTF-8 cannot carry, is not echoed. */
  private static String printable(String name) {
    String shown =
        name.length() > NAME_CHARS_MAX
            ? name.substring(0, name.offsetByCodePoints(0, shortened(name))) + "…"
            : name;
    return Text.isClean(shown) ? shown : Text.cleaned(shown);
  }

  private static int shortened(String name) {
    return name.codePointCount(0, NAME_CHARS_MAX);
  }
}

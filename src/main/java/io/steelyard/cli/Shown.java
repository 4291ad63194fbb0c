package io.steelyard.cli;

import java.util.regex.Pattern;

/** Text of others on a terminal of ours. */
final class Shown {
  /** A terminal obeys some of these; in the middle of a line none is wanted. */
  private static final Pattern CONTROLS = Pattern.compile("[\\p{Cc}\\p{Zl}\\p{Zp}]+");

  private Shown() {}

  /** On one line, and harmless. */
  static String line(Object text) {
    return CONTROLS.matcher(String.valueOf(text)).replaceAll(" ");
  }
}

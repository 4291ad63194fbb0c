package io.steelyard.config;

import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/**
 * Everything that is wrong with the settings, in the order it was found. What follows from a fault
 * is none of its own: where a setting could not be read, nothing is said of how it fits the others.
 */
final class Faults {
  private final Set<String> lines = new LinkedHashSet<>();
  private final Set<String> unread = new HashSet<>();
  private boolean sourceUnread;

  void add(String line) {
    lines.add(line);
  }

  /** Of one setting, or of a section's whole, whose value is unknown now. */
  void of(String name, String line) {
    unread.add(name);
    add(line);
  }

  /** Of what has a form of its own. */
  void add(ConfigException refused) {
    lines.addAll(refused.faults());
  }

  /** Of a source: no setting is known for certain now. */
  void ofSource(String line) {
    sourceUnread = true;
    add(line);
  }

  /**
   * Of settings that do not fit each other.
   *
   * @param names of all that the rule looks at
   */
  void rule(boolean broken, String line, String... names) {
    if (broken && areKnown(names)) {
      add(line);
    }
  }

  private boolean areKnown(String... names) {
    if (sourceUnread) {
      return false;
    }
    for (String name : names) {
      for (String faulty : unread) {
        if (name.equals(faulty) || name.startsWith(faulty + ".") || faulty.startsWith(name + ".")) {
          return false;
        }
      }
    }
    return true;
  }

  /** Fails with all of them, where there is one. */
  void throwIfAny() {
    if (!lines.isEmpty()) {
      throw ConfigException.of(List.copyOf(lines));
    }
  }
}

package io.steelyard.usage;

import io.steelyard.bus.Failure;
import java.util.ArrayList;
import java.util.List;

/** The faults found in one body, up to a number that nobody would read past. */
final class FaultList {
  private static final int REPORTED_MAX = 1000;

  private final List<Failure.Fault> faults = new ArrayList<>();

  void add(String pointer, String code, String message) {
    if (!isFull()) {
      faults.add(Failure.Fault.at(pointer, code, message));
    }
  }

  boolean isEmpty() {
    return faults.isEmpty();
  }

  boolean isFull() {
    return faults.size() >= REPORTED_MAX;
  }

  Decoded asDecoded() {
    return new Decoded.Faults(new Failure.Invalid(faults));
  }

  /** The pointer to a member, its name escaped as RFC 6901 wants it. */
  static String pointer(String object, String name) {
    return object + "/" + name.replace("~", "~0").replace("/", "~1");
  }
}

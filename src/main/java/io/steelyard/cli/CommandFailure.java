package io.steelyard.cli;

import java.util.List;
import java.util.stream.Stream;

/** Why a command was not carried out: a line for the operator, and details where there are any. */
final class CommandFailure extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final transient List<String> details;

  CommandFailure(String line) {
    this(line, List.of());
  }

  CommandFailure(String line, List<String> details) {
    super(line);
    this.details = List.copyOf(details);
  }

  /** The line, and the details below it. */
  List<String> lines() {
    return Stream.concat(Stream.of(getMessage()), details.stream().map(detail -> "  " + detail))
        .toList();
  }
}

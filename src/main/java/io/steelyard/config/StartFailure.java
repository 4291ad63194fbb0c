package io.steelyard.config;

import java.util.List;
import java.util.stream.Stream;

/** Why the service cannot start, so that the operator knows what to change. */
public class StartFailure extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final transient List<String> lines;

  public StartFailure(String line) {
    this(line, (Throwable) null);
  }

  public StartFailure(String line, Throwable cause) {
    super(line, cause);
    this.lines = List.of(line);
  }

  StartFailure(String heading, List<String> reasons) {
    super(heading + " " + String.join("; ", reasons));
    this.lines =
        Stream.concat(Stream.of(heading), reasons.stream().map(reason -> "  " + reason)).toList();
  }

  /** The message as it is shown: one line, or a heading and a line for each of several reasons. */
  public List<String> lines() {
    return lines;
  }
}

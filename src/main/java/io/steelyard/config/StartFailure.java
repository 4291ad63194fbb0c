package io.steelyard.config;

/** Why the service cannot start, as one line that tells the operator what to change. */
public class StartFailure extends RuntimeException {
  private static final long serialVersionUID = 1L;

  public StartFailure(String line) {
    super(line);
  }

  public StartFailure(String line, Throwable cause) {
    super(line, cause);
  }
}

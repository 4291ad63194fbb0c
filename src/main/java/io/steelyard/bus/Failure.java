package io.steelyard.bus;

import java.util.List;

/**
 * Everything that can go wrong, as a value. Mapped to HTTP once, in {@code http.Problems}; {@code
 * code} is stable and part of the API, {@code detail} is for people and never holds internals.
 */
public sealed interface Failure {
  String code();

  String detail();

  /** No such thing for this merchant. */
  record NotFound(String code, String detail) implements Failure {}

  /** The input breaks the documented form; every fault is listed. */
  record Invalid(List<Fault> faults) implements Failure {
    public Invalid {
      faults = List.copyOf(faults);
    }

    @Override
    public String code() {
      return "validation_failed";
    }

    @Override
    public String detail() {
      return faults.size() == 1
          ? "1 fault in the request"
          : faults.size() + " faults in the request";
    }
  }

  /**
   * Well-formed, but the current state forbids it.
   *
   * @param retryAfterS when it may be another one; null where waiting does not help
   */
  record Conflict(String code, String detail, Integer retryAfterS) implements Failure {
    public Conflict(String code, String detail) {
      this(code, detail, null);
    }
  }

  /** It was there and will never be again. */
  record Gone(String code, String detail) implements Failure {}

  /** Well-formed but impossible; {@code faults} may point at the places. */
  record Rejected(String code, String detail, List<Fault> faults) implements Failure {
    public Rejected {
      faults = List.copyOf(faults);
    }

    public Rejected(String code, String detail) {
      this(code, detail, List.of());
    }
  }

  /** The service or the merchant's share is full: try again after {@code retryAfterS} seconds. */
  record Overloaded(String code, String detail, int retryAfterS) implements Failure {}

  /** Something the service needs is away: the database, or a verticle. */
  record Unavailable(String code, String detail, int retryAfterS) implements Failure {}

  /** Nobody answered before the deadline; whether the effect took place is unknown. */
  record TimedOut(String detail) implements Failure {
    @Override
    public String code() {
      return "timeout";
    }
  }

  /** A fault of ours. Logged where it happened; the client learns nothing but the request id. */
  record Unexpected() implements Failure {
    @Override
    public String code() {
      return "internal";
    }

    @Override
    public String detail() {
      return "An unexpected error occurred. Quote the request id when you report it.";
    }
  }

  /**
   * One fault of the input.
   *
   * @param pointer JSON pointer into the body, or null for a fault outside the body
   * @param parameter name of the path, query or header parameter, or null
   */
  record Fault(String pointer, String parameter, String code, String message) {
    public static Fault at(String pointer, String code, String message) {
      return new Fault(pointer, null, code, message);
    }

    public static Fault parameter(String name, String code, String message) {
      return new Fault(null, name, code, message);
    }
  }

  static Failure invalid(String pointer, String code, String message) {
    return new Invalid(List.of(Fault.at(pointer, code, message)));
  }

  static Failure invalidParameter(String name, String code, String message) {
    return new Invalid(List.of(Fault.parameter(name, code, message)));
  }

  static Failure notFound(String what) {
    return new NotFound(what + "_not_found", "No such " + what.replace('_', ' ') + ".");
  }

  static Failure databaseDown() {
    return new Unavailable("database_unavailable", "The database cannot be reached.", 2);
  }

  default FailureException asException() {
    return new FailureException(this);
  }
}

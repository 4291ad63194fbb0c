package io.steelyard.web;

import io.vertx.core.Future;
import java.util.HashMap;
import java.util.Map;

/** A request refused for a reason of HTTP itself, before any feature was asked. */
public final class Refusal extends RuntimeException {
  private static final long serialVersionUID = 1L;

  private final int status;
  private final String code;
  private final transient Map<String, String> headers;
  private final boolean closing;

  private Refusal(
      int status, String code, String detail, Map<String, String> headers, boolean closing) {
    super(detail, null, false, false);
    this.status = status;
    this.code = code;
    this.headers = headers;
    this.closing = closing;
  }

  /** Refused; the connection may go on. */
  public static Refusal of(int status, String code, String detail) {
    return new Refusal(status, code, detail, Map.of(), false);
  }

  /**
   * Refused, with the connection closed since what follows on it cannot be trusted or is unread.
   */
  public static Refusal closing(int status, String code, String detail) {
    return new Refusal(status, code, detail, Map.of(), true);
  }

  public Refusal with(String header, String value) {
    Map<String, String> all = new HashMap<>(headers);
    all.put(header, value);
    return new Refusal(status, code, getMessage(), Map.copyOf(all), closing);
  }

  public <T> Future<T> failed() {
    return Future.failedFuture(this);
  }

  public int status() {
    return status;
  }

  public String code() {
    return code;
  }

  public Map<String, String> headers() {
    return headers;
  }

  public boolean isClosing() {
    return closing;
  }
}

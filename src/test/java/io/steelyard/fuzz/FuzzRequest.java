package io.steelyard.fuzz;

import java.nio.charset.StandardCharsets;

/**
 * A request as its bytes.
 *
 * @param number of the seed's
 * @param target as it is in the request line
 * @param head all before the body
 * @param body as it is sent, perhaps compressed or in chunks
 * @param admitted whether it shows a good key or token
 * @param json the body's content where that is sent as JSON and nothing else is wrong; else null
 */
record FuzzRequest(
    long number,
    FuzzOperation operation,
    String target,
    byte[] head,
    byte[] body,
    boolean admitted,
    byte[] json) {
  private static final int SHOWN_MAX = 1500;

  /** Beyond what servers must take of a request line and of headers, and ours takes. */
  private static final int LINE_MAX = 4096;

  private static final int HEADERS_MAX = 8192;

  /** What a connection takes without anybody reading from it. */
  private static final int UNREAD_MAX = 65_536;

  /** Whether it may be refused before it is known what it is for. */
  boolean isOversized() {
    return target.length() > LINE_MAX - 100 || head.length > HEADERS_MAX;
  }

  /** Whether it is refused, and its connection closed, while it is still being sent. */
  boolean isCutOff() {
    return !admitted && body.length > UNREAD_MAX;
  }

  @Override
  public String toString() {
    return "request %d: %s%s"
        .formatted(
            number,
            shown(head).replaceAll("(?i)(x-api-key: [sp]k_|Bearer )[^\r\n]*", "$1..."),
            shown(body));
  }

  private static String shown(byte[] bytes) {
    String text = new String(bytes, StandardCharsets.ISO_8859_1);
    return text.length() <= SHOWN_MAX
        ? text
        : text.substring(0, SHOWN_MAX) + "... " + text.length() + " bytes";
  }
}

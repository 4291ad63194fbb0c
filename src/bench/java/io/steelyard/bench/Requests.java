package io.steelyard.bench;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongFunction;

/** What one connection sends. */
interface Requests {
  /** The next request, head and body; valid until the next call. */
  ByteBuffer next();

  /** Bodies that are each made from their number, numbered over all connections. */
  static Requests posts(
      String path, String apiKey, AtomicLong number, LongFunction<String> bodies) {
    return () -> {
      byte[] body = bodies.apply(number.getAndIncrement()).getBytes(StandardCharsets.UTF_8);
      byte[] head =
          head("POST", path, apiKey, "content-length: " + body.length + "\r\n")
              .getBytes(StandardCharsets.US_ASCII);
      return ByteBuffer.allocate(head.length + body.length).put(head).put(body).flip();
    };
  }

  /** Paths that are each made from their number, numbered over all connections. */
  static Requests gets(String apiKey, AtomicLong number, LongFunction<String> paths) {
    return () ->
        ByteBuffer.wrap(
            head("GET", paths.apply(number.getAndIncrement()), apiKey, "")
                .getBytes(StandardCharsets.US_ASCII));
  }

  /**
   * @param more further header lines
   */
  static String head(String method, String path, String apiKey, String more) {
    return method
        + " "
        + path
        + " HTTP/1.1\r\nhost: bench\r\ncontent-type: application/json\r\nx-api-key: "
        + apiKey
        + "\r\n"
        + more
        + "\r\n";
  }
}

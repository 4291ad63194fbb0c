package io.steelyard.bus;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.UUID;

/**
 * What a caller gave a request so that its repetition has no second effect. Both are 128 bits of
 * SHA-256: of a length, and of no use to who reads them.
 *
 * @param id of the endpoint and the key as sent; for one merchant it is the key
 * @param request of all that makes this request this one: another under the same id is refused
 */
public record IdempotencyKey(UUID id, UUID request) {
  /**
   * @param endpoint method and path, without the values of parameters
   * @param key as sent
   * @param target the values of the path's parameters, and the query
   * @param body in a canonical form
   */
  public static IdempotencyKey of(String endpoint, String key, String target, byte[] body) {
    return new IdempotencyKey(
        hash((endpoint + "\n" + key).getBytes(StandardCharsets.UTF_8), new byte[0]),
        hash((target + "\n").getBytes(StandardCharsets.UTF_8), body));
  }

  private static UUID hash(byte[] head, byte[] tail) {
    try {
      MessageDigest sha256 = MessageDigest.getInstance("SHA-256");
      sha256.update(head);
      ByteBuffer hash = ByteBuffer.wrap(sha256.digest(tail));
      return new UUID(hash.getLong(), hash.getLong());
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java has SHA-256", e);
    }
  }
}

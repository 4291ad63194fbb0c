package io.steelyard.bus;

import io.vertx.core.buffer.Buffer;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * Shows that what arrives from another process was written by one that knows the cluster's secret,
 * and unchanged. It hides nothing, and does not show that it was written just now.
 */
final class Seal {
  private static final String ALGORITHM = "HmacSHA256";
  private static final int MAC_BYTES = 32;
  private static final int LENGTH_BYTES = 4;

  private final SecretKeySpec key;

  Seal(byte[] key) {
    this.key = new SecretKeySpec(key, ALGORITHM);
  }

  /** Appends the content to {@code wire}, after its length and its proof. */
  void close(Buffer wire, Buffer content) {
    byte[] bytes = content.getBytes();
    wire.appendInt(bytes.length).appendBytes(mac(bytes)).appendBytes(bytes);
  }

  /** The content that begins at {@code position}; throws where it is not proven. */
  Buffer open(int position, Buffer wire) {
    int length = wire.getInt(position);
    int macAt = position + LENGTH_BYTES;
    int contentAt = macAt + MAC_BYTES;
    if (length < 0 || length > wire.length() - contentAt) {
      throw new IllegalArgumentException("a message of the cluster is cut short");
    }
    byte[] content = wire.getBytes(contentAt, contentAt + length);
    if (!MessageDigest.isEqual(mac(content), wire.getBytes(macAt, contentAt))) {
      throw new IllegalArgumentException("a message came from who does not know cluster.secret");
    }
    return Buffer.buffer(content);
  }

  private byte[] mac(byte[] content) {
    try {
      Mac mac = Mac.getInstance(ALGORITHM);
      mac.init(key);
      return mac.doFinal(content);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
  }
}

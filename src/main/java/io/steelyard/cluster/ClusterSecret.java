package io.steelyard.cluster;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** The text that all nodes share, as keys for one purpose each. */
public final class ClusterSecret {
  private static final String ALGORITHM = "HmacSHA256";

  private final String text;

  public ClusterSecret(String text) {
    this.text = text;
  }

  /** 32 bytes that tell nothing of the secret, nor of another purpose's. */
  public byte[] keyFor(String purpose) {
    return mac(text.getBytes(StandardCharsets.UTF_8), purpose.getBytes(StandardCharsets.UTF_8));
  }

  static byte[] mac(byte[] key, byte[] content) {
    try {
      Mac mac = Mac.getInstance(ALGORITHM);
      mac.init(new SecretKeySpec(key, ALGORITHM));
      return mac.doFinal(content);
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException(e);
    }
  }
}

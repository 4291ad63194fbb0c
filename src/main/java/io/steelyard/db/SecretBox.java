package io.steelyard.db;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import java.security.SecureRandom;
import java.util.Arrays;
import java.util.Base64;
import java.util.Optional;
import java.util.UUID;
import javax.crypto.AEADBadTagException;
import javax.crypto.Cipher;
import javax.crypto.SecretKey;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;

/**
 * Encrypts what must not lie readable in the database, with AES-256-GCM: 12 random bytes of nonce,
 * then ciphertext and tag. The owner and what it is for are authenticated with them, so that a row
 * copied to another merchant does not open.
 */
public final class SecretBox {
  private static final String CIPHER = "AES/GCM/NoPadding";
  private static final int KEY_BYTES = 32;
  private static final int NONCE_BYTES = 12;
  private static final int TAG_BITS = 128;

  private final SecureRandom random = new SecureRandom();
  private final SecretKey key;

  /**
   * @param encryptionKey 32 bytes in base64, or null: then there is no key, and nothing can be
   *     sealed or opened
   * @throws IllegalArgumentException when it is neither
   */
  public SecretBox(String encryptionKey) {
    this.key = encryptionKey == null ? null : new SecretKeySpec(keyBytes(encryptionKey), "AES");
  }

  public boolean hasKey() {
    return key != null;
  }

  /**
   * @param use what it is for, such as the name of a gateway
   * @throws IllegalStateException when there is no key
   */
  public byte[] seal(UUID owner, String use, String secret) {
    if (key == null) {
      throw new IllegalStateException("no encryption key");
    }
    byte[] nonce = new byte[NONCE_BYTES];
    random.nextBytes(nonce);
    try {
      byte[] text = secret.getBytes(StandardCharsets.UTF_8);
      byte[] sealed = cipher(Cipher.ENCRYPT_MODE, nonce, owner, use).doFinal(text);
      byte[] box = Arrays.copyOf(nonce, NONCE_BYTES + sealed.length);
      System.arraycopy(sealed, 0, box, NONCE_BYTES, sealed.length);
      return box;
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("this Java cannot encrypt with " + CIPHER, e);
    }
  }

  /**
   * The secret; empty when it was sealed with another key, for another owner or use, or altered.
   */
  public Optional<String> open(UUID owner, String use, byte[] box) {
    if (key == null || box.length < NONCE_BYTES + TAG_BITS / Byte.SIZE) {
      return Optional.empty();
    }
    byte[] nonce = Arrays.copyOf(box, NONCE_BYTES);
    try {
      byte[] text =
          cipher(Cipher.DECRYPT_MODE, nonce, owner, use)
              .doFinal(box, NONCE_BYTES, box.length - NONCE_BYTES);
      return Optional.of(new String(text, StandardCharsets.UTF_8));
    } catch (AEADBadTagException e) {
      return Optional.empty();
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("this Java cannot decrypt with " + CIPHER, e);
    }
  }

  private Cipher cipher(int mode, byte[] nonce, UUID owner, String use)
      throws GeneralSecurityException {
    Cipher cipher = Cipher.getInstance(CIPHER);
    cipher.init(mode, key, new GCMParameterSpec(TAG_BITS, nonce));
    cipher.updateAAD((owner + "/" + use).getBytes(StandardCharsets.UTF_8));
    return cipher;
  }

  private static byte[] keyBytes(String encryptionKey) {
    byte[] bytes;
    try {
      bytes = Base64.getDecoder().decode(encryptionKey.strip());
    } catch (IllegalArgumentException notBase64) {
      // Without the cause, whose text would show characters of the key.
      throw new IllegalArgumentException("security.encryptionKey is not base64");
    }
    if (bytes.length != KEY_BYTES) {
      throw new IllegalArgumentException(
          "security.encryptionKey must be 32 bytes in base64, but is " + bytes.length + " bytes");
    }
    return bytes;
  }
}

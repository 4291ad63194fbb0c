package io.steelyard.merchant;

import io.steelyard.domain.Environment;
import io.steelyard.domain.KeyType;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.security.SecureRandom;
import java.util.regex.Pattern;
import java.util.zip.CRC32;

/**
 * Makes and recognises API keys, such as {@code sk_live_}, 43 characters that carry 256 random
 * bits, and 6 that are the CRC-32 of all before them. By those a scanner for leaked secrets tells a
 * key from text that looks like one, and a mistyped key is refused without a question to the
 * database.
 */
public final class ApiKeys {
  private static final SecureRandom RANDOM = new SecureRandom();
  private static final String ALPHABET =
      "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
  private static final BigInteger BASE = BigInteger.valueOf(ALPHABET.length());
  private static final int RANDOM_BYTES = 32;
  private static final int RANDOM_CHARS = 43; // 62^43 is the first power above 2^256
  private static final int CHECK_CHARS = 6; // 62^6 is the first power above 2^32

  /** Keys made before there were checksums go on working without. */
  private static final Pattern FORM =
      Pattern.compile(
          "[sp]k_(live|test)_[0-9A-Za-z]{" + RANDOM_CHARS + "}([0-9A-Za-z]{" + CHECK_CHARS + "})?");

  private static final int UNCHECKED_LENGTH = "sk_live_".length() + RANDOM_CHARS;

  private ApiKeys() {}

  /** A new key, as its owner will send it. */
  public static String generate(Environment environment, KeyType type) {
    String prefix =
        switch (type) {
          case SECRET -> "sk_";
          case PUBLISHABLE -> "pk_";
        };
    byte[] bytes = new byte[RANDOM_BYTES];
    RANDOM.nextBytes(bytes);
    String unchecked =
        prefix + environment.wire() + "_" + base62(new BigInteger(1, bytes), RANDOM_CHARS);
    return unchecked + checksum(unchecked);
  }

  private static String checksum(String unchecked) {
    CRC32 crc = new CRC32();
    crc.update(unchecked.getBytes(StandardCharsets.US_ASCII));
    return base62(BigInteger.valueOf(crc.getValue()), CHECK_CHARS);
  }

  private static String base62(BigInteger number, int length) {
    char[] text = new char[length];
    BigInteger rest = number;
    for (int i = text.length - 1; i >= 0; i--) {
      BigInteger[] parts = rest.divideAndRemainder(BASE);
      text[i] = ALPHABET.charAt(parts[1].intValue());
      rest = parts[0];
    }
    return new String(text);
  }

  /**
   * Whether a text could be a key at all; no other is worth a question to the database. A checksum
   * is no secret: it is computed from what was sent, and compared as any text.
   */
  public static boolean hasForm(String text) {
    if (!FORM.matcher(text).matches()) {
      return false;
    }
    return text.length() == UNCHECKED_LENGTH
        || text.endsWith(checksum(text.substring(0, UNCHECKED_LENGTH)));
  }

  /** SHA-256 of the key as sent: what is stored, and what it is looked up by. */
  public static byte[] hash(String key) {
    try {
      return MessageDigest.getInstance("SHA-256").digest(key.getBytes(StandardCharsets.UTF_8));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every Java has SHA-256", e);
    }
  }
}

package io.steelyard.web;

import io.vertx.core.buffer.Buffer;
import java.util.zip.CRC32;

/** The frame around a gzip member (RFC 1952). */
final class GzipHeader {
  private static final int FIXED_LENGTH = 10;
  private static final int TRAILER_LENGTH = 8;
  private static final int FLAG_HEADER_CRC = 2;
  private static final int FLAG_EXTRA = 4;
  private static final int FLAG_NAME = 8;
  private static final int FLAG_COMMENT = 16;

  private GzipHeader() {}

  /** Where the deflated data begins, or -1 when this is no gzip header. */
  static int length(byte[] bytes) {
    if (bytes.length < FIXED_LENGTH + TRAILER_LENGTH
        || (bytes[0] & 0xff) != 0x1f
        || (bytes[1] & 0xff) != 0x8b
        || bytes[2] != 8) {
      return -1;
    }
    int flags = bytes[3];
    int at = FIXED_LENGTH;
    if ((flags & FLAG_EXTRA) != 0) {
      at += 2 + (bytes[at] & 0xff) + ((bytes[at + 1] & 0xff) << 8);
    }
    for (int flag : new int[] {FLAG_NAME, FLAG_COMMENT}) {
      if ((flags & flag) != 0) {
        at = afterZero(bytes, at);
      }
    }
    if ((flags & FLAG_HEADER_CRC) != 0) {
      at += 2;
    }
    return at > 0 && at <= bytes.length - TRAILER_LENGTH ? at : -1;
  }

  private static int afterZero(byte[] bytes, int from) {
    int at = Math.max(from, 0);
    while (at < bytes.length && bytes[at] != 0) {
      at++;
    }
    return at + 1;
  }

  /** Whether exactly one trailer is left, and it fits what was inflated. */
  static boolean trailerFits(byte[] bytes, int remaining, Buffer inflated) {
    if (remaining != TRAILER_LENGTH) {
      return false;
    }
    CRC32 crc = new CRC32();
    crc.update(inflated.getBytes());
    Buffer trailer = Buffer.buffer(bytes).slice(bytes.length - TRAILER_LENGTH, bytes.length);
    return trailer.getUnsignedIntLE(0) == crc.getValue()
        && trailer.getUnsignedIntLE(4) == inflated.length();
  }
}

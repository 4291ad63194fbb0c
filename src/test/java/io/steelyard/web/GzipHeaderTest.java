package io.steelyard.web;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.buffer.Buffer;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.Test;

class GzipHeaderTest {
  private static final Buffer TEXT = Buffer.buffer("some text, some text, some text");

  private static byte[] zipped() throws IOException {
    ByteArrayOutputStream out = new ByteArrayOutputStream();
    try (GZIPOutputStream gzip = new GZIPOutputStream(out)) {
      gzip.write(TEXT.getBytes());
    }
    return out.toByteArray();
  }

  /** A member with these flags, the fields that they announce, and {@code after} more bytes. */
  private static byte[] header(int flags, String fields, int after) {
    return Buffer.buffer(new byte[] {0x1f, (byte) 0x8b, 8, (byte) flags, 0, 0, 0, 0, 0, 3})
        .appendBytes(fields.getBytes(StandardCharsets.ISO_8859_1))
        .appendBytes(new byte[after])
        .getBytes();
  }

  @Test
  void aPlainHeaderHasTenBytes() throws IOException {
    assertThat(GzipHeader.length(zipped())).isEqualTo(10);
  }

  @Test
  void optionalFieldsAreSkipped() {
    assertThat(GzipHeader.length(header(8, "name.txt\0", 20))).isEqualTo(19);
    assertThat(GzipHeader.length(header(16, "comment\0", 20))).isEqualTo(18);
    assertThat(GzipHeader.length(header(2, "cc", 20))).isEqualTo(12);
    assertThat(GzipHeader.length(header(4, "\5\0abcde", 20))).isEqualTo(17);
    assertThat(GzipHeader.length(header(30, "\1\0xn\0c\0hh", 20))).isEqualTo(19);
  }

  @Test
  void whatIsNoWholeHeaderIsRefused() {
    assertThat(GzipHeader.length(new byte[0])).isEqualTo(-1);
    assertThat(GzipHeader.length(header(0, "", 7))).isEqualTo(-1);
    assertThat(GzipHeader.length(header(8, "no end of the name", 0))).isEqualTo(-1);
    assertThat(GzipHeader.length(header(4, "\u00ff\u00ffabc", 20))).isEqualTo(-1);
    assertThat(GzipHeader.length(header(24, "name\0comment ", 0))).isEqualTo(-1);
    for (int i = 0; i < 3; i++) {
      byte[] broken = header(0, "", 20);
      broken[i]++;
      assertThat(GzipHeader.length(broken)).as("byte " + i).isEqualTo(-1);
    }
  }

  @Test
  void theTrailerTellsLengthAndChecksumOfTheText() throws IOException {
    byte[] bytes = zipped();
    assertThat(GzipHeader.trailerFits(bytes, 8, TEXT)).isTrue();

    assertThat(GzipHeader.trailerFits(bytes, 9, TEXT)).isFalse();
    assertThat(GzipHeader.trailerFits(bytes, 7, TEXT)).isFalse();
    assertThat(GzipHeader.trailerFits(bytes, 8, Buffer.buffer("other"))).isFalse();
    for (int i = bytes.length - 8; i < bytes.length; i++) {
      byte[] broken = bytes.clone();
      broken[i]++;
      assertThat(GzipHeader.trailerFits(broken, 8, TEXT)).isFalse();
    }
  }
}

package io.steelyard.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.json.Json;
import io.steelyard.support.RawHttp;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.SeekableByteChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.util.Map;

/**
 * The time of day of a process, which a library moves that is loaded into it before the others;
 * PostgreSQL and the senders keep theirs.
 */
final class MovedClock {
  private final Path library;
  private final Path offset;

  private MovedClock(Path library, Path offset) {
    this.library = library;
    this.offset = offset;
  }

  /**
   * Right at first. Without a C compiler the test is reported as not run.
   *
   * @param dir has no other's files
   */
  static MovedClock make(Path dir) throws IOException {
    Path library = CProgram.compile("clock.c", dir, "-shared", "-fPIC");
    MovedClock clock = new MovedClock(library, dir.resolve("clock.offset"));
    clock.moveTo(0);
    return clock;
  }

  /**
   * In place: the file is mapped.
   *
   * @param seconds ahead of the right time, behind it where negative
   */
  void moveTo(long seconds) throws IOException {
    ByteBuffer bytes = ByteBuffer.allocate(Long.BYTES).order(ByteOrder.nativeOrder());
    bytes.putLong(0, seconds);
    if (Files.exists(offset)) {
      try (SeekableByteChannel file = Files.newByteChannel(offset, StandardOpenOption.WRITE)) {
        file.write(bytes);
      }
    } else {
      Files.write(offset, bytes.array());
    }
  }

  /** Of the process whose clock this is. */
  Map<String, String> environment() {
    return Map.of("LD_PRELOAD", library.toString(), "CLOCK_OFFSET_FILE", offset.toString());
  }

  /** When the node says that a new customer was made. */
  static Instant created(Account account, Node node, String externalId) {
    String body = Json.encodeText(Map.of("externalId", externalId));
    try (RawHttp http = RawHttp.connect(node.port())) {
      RawHttp.Response answer =
          http.send(
                  "POST /external/customers HTTP/1.1\nHost: a\nContent-Type: application/json\n"
                      + "X-Api-Key: %s\nContent-Length: %d\n\n"
                          .formatted(account.apiKey(), body.length())
                      + body)
              .read();
      assertThat(answer.status()).as(answer.body()).isEqualTo(201);
      return Instant.parse((String) Json.readMap(answer.body()).get("createdAt"));
    }
  }
}

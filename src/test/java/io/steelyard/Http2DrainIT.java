package io.steelyard;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.json.Json;
import io.steelyard.support.Authority;
import io.steelyard.support.Authority.Issued;
import io.steelyard.support.Merchant;
import io.steelyard.support.RawHttp2;
import io.steelyard.support.RawHttp2.Answer;
import io.steelyard.support.RawHttp2.Frame;
import io.steelyard.support.TestApp;
import io.vertx.core.Future;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.SSLContext;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A stop seen from a client of HTTP/2, whose connection carries many requests. */
class Http2DrainIT {
  @TempDir private Path dir;
  private SSLContext trust;
  private TestApp app;
  private Merchant merchant;
  private byte[] event;

  @BeforeEach
  void start() {
    Authority authority = Authority.create(dir, "ours");
    Issued server = authority.server("server");
    trust = authority.client(null, null);
    app =
        TestApp.start(
            Map.of(
                "timeouts.unreadyMs", "4000",
                "http.tls.certificatePath", server.certificate().toString(),
                "http.tls.keyPath", server.key().toString()));
    merchant = app.merchant("test", Merchant.CATALOG);
    event =
        Json.encodeText(merchant.event("nobody-yet", "api.request", 1, null))
            .getBytes(StandardCharsets.UTF_8);
  }

  @AfterEach
  void stop() {
    app.close();
  }

  private void begin(RawHttp2 connection, int stream) throws IOException {
    connection.request(
        stream,
        0,
        "POST",
        "/external/event",
        "x-api-key",
        merchant.key(),
        "content-type",
        "application/json");
  }

  private void end(RawHttp2 connection, int stream) throws IOException {
    connection.send(RawHttp2.DATA, RawHttp2.END_STREAM, stream, event);
    assertThat(connection.answer()).returns(stream, Answer::stream).returns(202, Answer::status);
  }

  /** The last stream that the server says it serves; it must not say that anything is wrong. */
  private static int lastStream(RawHttp2 connection) {
    Frame frame = connection.read(RawHttp2.GO_AWAY);
    assertThat(frame).as("the connection ended without a word").isNotNull();
    ByteBuffer payload = ByteBuffer.wrap(frame.payload());
    int last = payload.getInt();
    assertThat(payload.getInt()).as("error").isZero();
    return last;
  }

  @Test
  void itIsToldToOpenStreamsElsewhereAndThoseThatItHasAreServed() throws Exception {
    try (RawHttp2 connection = RawHttp2.connect(app.port(), trust)) {
      begin(connection, 1);
      end(connection, 1);
      begin(connection, 3);

      Future<Boolean> stopping = app.service().stop();

      assertThat(lastStream(connection)).isEqualTo(Integer.MAX_VALUE);
      end(connection, 3);
      begin(connection, 5); // as if it had been on its way
      end(connection, 5);
      try (RawHttp2 late = RawHttp2.connect(app.port(), trust)) {
        assertThat(lastStream(late)).isEqualTo(Integer.MAX_VALUE);
        begin(late, 1);
        end(late, 1);
      }
      assertThat(stopping.isComplete()).isFalse();

      assertThat(lastStream(connection)).isEqualTo(5);
      assertThat(connection.read()).isNull();
      assertThat(stopping.await(20, TimeUnit.SECONDS)).isTrue();
    }
  }
}

package io.steelyard.bench;

import io.steelyard.config.Config;
import io.steelyard.config.ConfigLoader;
import io.steelyard.usage.Decoded;
import io.steelyard.usage.EventDecoder;
import io.vertx.core.Vertx;
import io.vertx.core.buffer.Buffer;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;

/** Reading a body of events. */
@State(Scope.Thread)
public class DecoderBenchmark {
  private static final String CUSTOMER = "cus_01jdrq6v8te3y9s6n4w1m5k7zc";
  private static final byte[] HEAD_END = "\r\n\r\n".getBytes(StandardCharsets.US_ASCII);

  @Param({"1", "1000"})
  public int events;

  private EventDecoder decoder;
  private Buffer body;

  @Setup
  public void prepare() {
    Vertx vertx = Vertx.vertx();
    Config config = ConfigLoader.load(vertx, Map.of(), new Properties(), Path.of("")).await();
    vertx.close().await();
    decoder = new EventDecoder(config.limits());
    ByteBuffer request =
        new EventRequests("key", List.of(CUSTOMER), events, EventRequests.Keys.ORDERED, 1).next();
    byte[] bytes = new byte[request.remaining()];
    request.get(bytes);
    body = Buffer.buffer(bytes).getBuffer(bodyStart(bytes), bytes.length);
    if (!(decoder.decode(body) instanceof Decoded.Events)) {
      throw new IllegalStateException("the body is not one of events: " + body);
    }
  }

  private static int bodyStart(byte[] request) {
    int at = 0;
    while (!Arrays.equals(request, at, at + HEAD_END.length, HEAD_END, 0, HEAD_END.length)) {
      at++;
    }
    return at + HEAD_END.length;
  }

  @Benchmark
  public Decoded decode() {
    return decoder.decode(body);
  }
}

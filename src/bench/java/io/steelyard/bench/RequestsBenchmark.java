package io.steelyard.bench;

import java.nio.ByteBuffer;
import java.util.List;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;

/** What the load itself takes to make a body of 100 events. */
@State(Scope.Thread)
public class RequestsBenchmark {
  @Param({"ORDERED", "RANDOM"})
  public String keys;

  private EventRequests requests;

  @Setup
  public void prepare() {
    requests =
        new EventRequests(
            "key",
            List.of("cus_01jdrq6v8te3y9s6n4w1m5k7zc", "cus_01jdrq6v8te3y9s6n4w1m5k7zd"),
            100,
            EventRequests.Keys.valueOf(keys),
            1);
  }

  @Benchmark
  public ByteBuffer next() {
    return requests.next();
  }
}

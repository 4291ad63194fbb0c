package io.steelyard.fuzz;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** As {@link FuzzIT}, with {@code -Dfuzz.requests=100000} of them. */
class FuzzFaults {
  private static final long REQUESTS = Long.getLong("fuzz.requests", 100_000);
  private static final long HEAP_MIB_MORE = 48;

  @Test
  void aHundredThousandRequestsLeaveTheServiceAsItWas(@TempDir Path dir) throws Exception {
    try (FuzzScene scene = new FuzzScene(dir)) {
      scene.checkReach(scene.run(REQUESTS, HEAP_MIB_MORE));
    }
  }
}

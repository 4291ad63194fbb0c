package io.steelyard;

import static org.assertj.core.api.Assertions.assertThat;

import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;

class ShutdownTest {
  private static final Duration LIMIT = Duration.ofMillis(200);

  private final List<String> done = new ArrayList<>();
  private final Shutdown shutdown = new Shutdown();

  private Future<?> finish(String name) {
    done.add(name);
    return Future.succeededFuture();
  }

  private boolean run() throws TimeoutException {
    return shutdown.run().await(10, TimeUnit.SECONDS);
  }

  @Test
  void stepsRunInTheirOrderAndTheNextOneWaits() throws TimeoutException {
    Promise<Void> slow = Promise.promise();
    shutdown.step(
        "first",
        LIMIT,
        () -> {
          Thread.ofVirtual()
              .start(
                  () -> {
                    done.add("first");
                    slow.complete();
                  });
          return slow.future();
        });
    shutdown.step("second", LIMIT, () -> finish("second"));

    assertThat(run()).isTrue();
    assertThat(done).containsExactly("first", "second");
  }

  @Test
  void aStepThatFailsThrowsOrHangsDoesNotKeepTheNextFromRunning() throws TimeoutException {
    shutdown.step("hangs", LIMIT, () -> Promise.promise().future());
    shutdown.step("fails", LIMIT, () -> Future.failedFuture("no"));
    shutdown.step(
        "throws",
        LIMIT,
        () -> {
          throw new IllegalStateException("no");
        });
    shutdown.step("last", LIMIT, () -> finish("last"));

    assertThat(run()).isFalse();
    assertThat(done).containsExactly("last");
  }

  @Test
  void aStepThatAnswersFalseIsNotClean() throws TimeoutException {
    shutdown.step("false", LIMIT, () -> Future.succeededFuture(false));

    assertThat(run()).isFalse();
  }
}

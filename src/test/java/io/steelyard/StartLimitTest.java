package io.steelyard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.vertx.core.Future;
import io.vertx.core.Promise;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Test;

class StartLimitTest {
  private static final Duration LIMIT = Duration.ofMillis(300);
  private static final long LONGER_MS = 900;

  @Test
  void whatIsNotDoneInTimeIsNotWaitedFor() {
    StartLimit limit = new StartLimit(LIMIT);

    assertThatThrownBy(() -> limit.await(Promise.promise().future()))
        .isInstanceOf(TimeoutException.class)
        .hasMessageContaining("PT0.3S");
  }

  @Test
  void whatEndsInTimeIsAnswered() throws Exception {
    StartLimit limit = new StartLimit(Duration.ofMinutes(1));

    assertThat(limit.await(Future.succeededFuture("done"))).isEqualTo("done");
    assertThatThrownBy(() -> limit.await(Future.failedFuture(new IllegalStateException("no"))))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("no");
  }

  @Test
  void whileItIsPausedTheTimeIsNotCounted() throws Exception {
    StartLimit limit = new StartLimit(LIMIT);
    Promise<String> migrated = Promise.promise();
    limit.pause();
    Thread.startVirtualThread(
        () -> {
          sleep();
          migrated.complete("done");
        });

    assertThat(limit.await(migrated.future())).isEqualTo("done");

    limit.resume();
    assertThatThrownBy(() -> limit.await(Promise.promise().future()))
        .isInstanceOf(TimeoutException.class);
  }

  private static void sleep() {
    try {
      TimeUnit.MILLISECONDS.sleep(LONGER_MS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}

package io.steelyard;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.joran.JoranConfigurator;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.classic.util.LogbackMDCAdapter;
import ch.qos.logback.core.AppenderBase;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;

class LogQueueTest {
  private static final int SIZE = 10;

  private final LoggerContext logback = new LoggerContext();
  private final Logger logger = logback.getLogger("test");
  private final CountDownLatch taken = new CountDownLatch(1);
  private final CountDownLatch resumed = new CountDownLatch(1);
  private final List<String> written = new ArrayList<>();
  private LogQueue queue;

  /** Takes one line and stands still with it. */
  private final class Stuck extends AppenderBase<ILoggingEvent> {
    @Override
    protected void append(ILoggingEvent event) {
      taken.countDown();
      try {
        resumed.await();
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      }
      written.add(event.getFormattedMessage());
    }
  }

  @BeforeEach
  void start() throws Exception {
    logback.setMDCAdapter(new LogbackMDCAdapter());
    Stuck stuck = new Stuck();
    stuck.setContext(logback);
    stuck.start();
    queue = new LogQueue();
    queue.setContext(logback);
    queue.setName("queue");
    queue.setQueueSize(SIZE);
    queue.setDiscardingThreshold(2);
    queue.setNeverBlock(true);
    queue.setMaxFlushTime(60_000);
    queue.addAppender(stuck);
    queue.start();
    logger.addAppender(queue);
    logger.setLevel(Level.INFO);
    logger.info("first");
    taken.await();
  }

  @AfterEach
  void stop() {
    resumed.countDown();
    logback.stop();
  }

  @Test
  void whatHasRoomIsWrittenAndNotCounted() {
    for (int i = 0; i < SIZE - 2; i++) {
      logger.info("more");
    }
    resumed.countDown();
    queue.stop();

    assertThat(queue.dropped()).isZero();
    assertThat(written).hasSize(1 + SIZE - 2);
  }

  @Test
  void whatIsLeftOutNearTheEndAndAtTheEndIsCounted() {
    for (int i = 0; i < 50; i++) {
      logger.info("more");
    }
    int before = SIZE - 1; // less room than two
    assertThat(queue.dropped()).isEqualTo(50 - before);
    for (int i = 0; i < 5; i++) {
      logger.error("wrong");
    }
    resumed.countDown();
    queue.stop();

    assertThat(queue.dropped()).isEqualTo(50 - before + 5 - 1);
    assertThat(written).hasSize(1 + before + 1).contains("wrong");
  }

  @Test
  void theMetricIsOfTheLogInForce() {
    PrometheusMeterRegistry metrics = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    LogQueue.measure(metrics);
    Logger root =
        ((LoggerContext) LoggerFactory.getILoggerFactory()).getLogger(Logger.ROOT_LOGGER_NAME);
    assertThat(metrics.scrape()).contains("steelyard_log_dropped_total 0.0");
    for (int i = 0; i < 50; i++) {
      logger.info("more");
    }
    root.addAppender(queue);
    try {
      assertThat(metrics.scrape()).containsPattern("steelyard_log_dropped_total [1-9]");
    } finally {
      root.detachAppender(queue);
    }
  }

  @Test
  void theLogThatIsShippedHasThisQueue() throws Exception {
    LoggerContext shipped = new LoggerContext();
    shipped.setMDCAdapter(new LogbackMDCAdapter());
    JoranConfigurator configurator = new JoranConfigurator();
    configurator.setContext(shipped);
    configurator.doConfigure(Path.of("conf", "logback.xml").toFile());
    try {
      assertThat(shipped.getLogger(Logger.ROOT_LOGGER_NAME).getAppender("queue"))
          .isInstanceOfSatisfying(
              LogQueue.class,
              appender -> {
                assertThat(appender.isStarted()).isTrue();
                assertThat(appender.isNeverBlock()).isTrue();
              });
    } finally {
      shipped.stop();
    }
  }
}

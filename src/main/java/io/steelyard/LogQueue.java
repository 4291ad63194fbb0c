package io.steelyard;

import ch.qos.logback.classic.AsyncAppender;
import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.Appender;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.concurrent.atomic.LongAdder;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The queue between who logs and who writes, which holds up nobody, with a count of the lines that
 * it had no room for. A line that comes in the very moment in which it fills or empties may be
 * counted wrongly; one of INFO or below, which is left out before that, may not.
 */
public final class LogQueue extends AsyncAppender {
  private static final String NAME = "queue";

  private final LongAdder dropped = new LongAdder();

  /** Asked only where the queue is nearly full. */
  @Override
  protected boolean isDiscardable(ILoggingEvent event) {
    boolean left = super.isDiscardable(event);
    if (left) {
      dropped.increment();
    }
    return left;
  }

  @Override
  protected void append(ILoggingEvent event) {
    boolean leftOutBefore = getDiscardingThreshold() > 0 && super.isDiscardable(event);
    if (isNeverBlock() && getRemainingCapacity() == 0 && !leftOutBefore) {
      dropped.increment();
    }
    super.append(event);
  }

  long dropped() {
    return dropped.sum();
  }

  /** Of the log as it is when the metric is asked for: 0 where that has another queue, or none. */
  static void measure(MeterRegistry metrics) {
    FunctionCounter.builder("steelyard.log.dropped", NAME, LogQueue::dropped)
        .description("Lines that the log left out, since nobody took them fast enough")
        .register(metrics);
  }

  private static double dropped(String name) {
    if (LoggerFactory.getILoggerFactory() instanceof LoggerContext logback) {
      Appender<ILoggingEvent> appender =
          logback.getLogger(Logger.ROOT_LOGGER_NAME).getAppender(name);
      return appender instanceof LogQueue queue ? queue.dropped() : 0;
    }
    return 0;
  }
}

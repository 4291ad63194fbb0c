package io.steelyard;

import ch.qos.logback.classic.LoggerContext;
import ch.qos.logback.classic.joran.JoranConfigurator;
import ch.qos.logback.core.joran.spi.JoranException;
import ch.qos.logback.core.util.Loader;
import java.net.MalformedURLException;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import org.slf4j.LoggerFactory;
import org.slf4j.bridge.SLF4JBridgeHandler;

/**
 * Where the log goes and in which form. Until the configuration is known, and in every command but
 * {@code run}, errors go to stderr and the rest nowhere, so that stdout is left to what was asked
 * for and stderr to the one line that says what was refused.
 */
final class Logging {
  private static final String FILE_PROPERTY = "logback.configurationFile";
  private static final String FILE = "conf/logback.xml";

  /** The variable of that file which says to which of its appenders lines go. */
  private static final String APPENDER = "appender";

  private Logging() {}

  /** Before the first logger is made, which is when logback, Vert.x and Hazelcast look. */
  static void begin() {
    System.setProperty("hazelcast.logging.type", "slf4j");
    System.setProperty(
        "vertx.logger-delegate-factory-class-name",
        "io.vertx.core.logging.SLF4JLogDelegateFactory");
    if (System.getProperty(FILE_PROPERTY) == null) {
      System.setProperty(
          FILE_PROPERTY,
          Files.exists(Path.of(FILE)) ? Path.of(FILE).toAbsolutePath().toString() : FILE);
    }
    // the JDK's own, to which the sender of traces and the JDBC driver write
    SLF4JBridgeHandler.removeHandlersForRootLogger();
    SLF4JBridgeHandler.install();
  }

  /**
   * From now on to stdout.
   *
   * @param format {@code json} or {@code text}
   */
  static void toStdout(String format) {
    if (!(LoggerFactory.getILoggerFactory() instanceof LoggerContext logback)) {
      return;
    }
    URL file = file(System.getProperty(FILE_PROPERTY));
    if (file == null) {
      return; // logback has its own defaults then
    }
    logback.reset();
    logback.putProperty(APPENDER, format);
    JoranConfigurator configurator = new JoranConfigurator();
    configurator.setContext(logback);
    try {
      configurator.doConfigure(file);
    } catch (JoranException e) {
      throw new IllegalStateException("cannot read " + file, e);
    }
  }

  /** As logback itself finds it: a URL, a resource or a file. */
  private static URL file(String name) {
    try {
      if (Files.exists(Path.of(name))) {
        return Path.of(name).toUri().toURL();
      }
      URL resource = Loader.getResource(name, Logging.class.getClassLoader());
      return resource != null ? resource : Path.of(name).toUri().toURL();
    } catch (MalformedURLException e) {
      throw new IllegalStateException(name + " is no file", e);
    }
  }

  /** Writes what is still waiting to be written, and ends. */
  static void end() {
    if (LoggerFactory.getILoggerFactory() instanceof LoggerContext logback) {
      logback.stop();
    }
  }
}

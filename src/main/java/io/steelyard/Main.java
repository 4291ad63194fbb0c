package io.steelyard;

import io.steelyard.cli.Cli;
import io.steelyard.config.ConfigLoader;
import io.steelyard.config.StartFailure;
import io.steelyard.json.Schemas;
import io.steelyard.merchant.MerchantClock;
import io.vertx.core.Future;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The process: without arguments the service, with arguments one command of the command line. The
 * only place, beside the commands, that waits for Futures.
 */
public final class Main {
  private static final String BUFFER_ALLOCATOR = "io.netty.allocator.type";
  private static final int STOPPED = 0;
  private static final int FAILED = 1;
  private static final long NANOS_PER_MS = 1_000_000;
  private static final Duration START_LIMIT = Duration.ofSeconds(180);
  private static final long START_TO_STOP_LIMIT_S = 25;

  /** Set by the hook: from then on it alone decides how the process ends. */
  private static volatile boolean stopping;

  private Main() {}

  public static void main(String[] args) {
    Logging.begin();
    if (args.length == 0) {
      serve();
      return;
    }
    PrintWriter out = writer(FileDescriptor.out);
    PrintWriter err = writer(FileDescriptor.err);
    int code = new Cli(Main::serve, out, err).execute(args);
    if (code != Cli.SERVING) {
      Logging.end();
      System.exit(code);
    }
  }

  /** UTF-8 whatever the locale: a catalogue that is exported must be what was applied. */
  private static PrintWriter writer(FileDescriptor descriptor) {
    return new PrintWriter(new FileOutputStream(descriptor), true, StandardCharsets.UTF_8);
  }

  /** Starts the service and returns; a start that fails ends the process, and so does a signal. */
  private static void serve() {
    configureBuffers();
    long startedAt = System.nanoTime();
    StartLimit limit = new StartLimit(START_LIMIT);
    Future<Service> starting = start(limit);
    Runtime.getRuntime().addShutdownHook(new Thread(() -> stop(starting), "steelyard-stop"));
    try {
      Service service = limit.await(starting);
      Optional<Demo.Introduction> demo = limit.await(service.demo());
      log().info("Started in {} ms", (System.nanoTime() - startedAt) / NANOS_PER_MS);
      introduce(service, demo);
      log().debug("Settings:\n{}", service.config());
    } catch (StartFailure e) {
      fail(starting, e.lines());
    } catch (TimeoutException e) {
      fail(starting, List.of("the start took longer than " + START_LIMIT.toSeconds() + " s"));
    } catch (Exception e) {
      if (!stopping) {
        log().error("The start failed", e);
      }
      fail(starting, List.of(e.getClass().getName() + ": " + e.getMessage()));
    }
  }

  private static void introduce(Service service, Optional<Demo.Introduction> demo) {
    if (service.config().logFormat().equals("json")) {
      // Nothing but JSON on stdout, and no secrets: these are in the data directory.
      log()
          .atInfo()
          .addKeyValue("api", service.listens(Deployment.HTTP) ? service.publicUrl() : null)
          .addKeyValue("operator", service.managementUrl() + "/operator")
          .log("Steelyard is ready");
      return;
    }
    Optional<String> token =
        service.operatorTokenGenerated()
            ? Optional.of(service.config().operator().token())
            : Optional.empty();
    System.out.println(
        Banner.text(
            service.listens(Deployment.HTTP) ? service.publicUrl() : null,
            service.managementUrl(),
            token,
            demo,
            new MerchantClock(Clock.systemUTC()).systemNow()));
  }

  private static Future<Service> start(StartLimit limit) {
    Schemas.readAhead();
    Platform platform = Platform.open();
    return platform
        .closedOnFailure(
            ConfigLoader.load(
                platform.vertx(), System.getenv(), System.getProperties(), Path.of("")))
        .compose(
            config -> {
              Logging.toStdout(config.logFormat());
              return Service.start(platform, config, Deployment::of, limit);
            });
  }

  /**
   * Before the first buffer is made. Netty's own choice of allocator gives memory back to the
   * system about a thousand times a second while events come in; and from Java 25 on (Netty 4.2,
   * CleanerJava25), giving back is to close a shared arena, for which all threads are stopped one
   * by one. Together that is a quarter of the service's work for an event.
   */
  private static void configureBuffers() {
    if (System.getProperty(BUFFER_ALLOCATOR) == null) {
      System.setProperty(BUFFER_ALLOCATOR, "pooled");
    }
  }

  private static Logger log() {
    return LoggerFactory.getLogger(Main.class);
  }

  private static void fail(Future<Service> starting, List<String> reason) {
    if (stopping) {
      return; // what fails now fails because of the stop
    }
    for (int i = 0; i < reason.size(); i++) {
      String line = reason.get(i).replaceAll("\\s*\\R\\s*", " ");
      System.err.println(i == 0 ? "steelyard: " + line : line);
    }
    if (!starting.failed()) { // a start that failed has left nothing behind
      stopInOrder(starting);
    }
    end(FAILED);
  }

  /** The JVM's hook: it ends only when everything is stopped, since the process ends with it. */
  private static void stop(Future<Service> starting) {
    stopping = true;
    end(stopInOrder(starting) ? STOPPED : FAILED);
  }

  private static boolean stopInOrder(Future<Service> starting) {
    try {
      log().info("Stopping");
      // A stop in the middle of a start waits for it: what has begun must end in order.
      Service service = starting.await(START_TO_STOP_LIMIT_S, TimeUnit.SECONDS);
      boolean clean = service.stop().await(); // every step of it has a limit
      log().info(clean ? "Stopped" : "Stopped, not all of it in order");
      return clean;
    } catch (Exception e) {
      log().error("The stop failed", e);
      return false;
    }
  }

  /** The exit code of a signal would be 128 and its number, even after a clean stop. */
  private static void end(int code) {
    Logging.end();
    System.err.flush();
    Runtime.getRuntime().halt(code);
  }
}

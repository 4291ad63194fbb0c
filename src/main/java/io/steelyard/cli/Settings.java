package io.steelyard.cli;

import io.steelyard.config.Config;
import io.steelyard.config.ConfigLoader;
import io.vertx.core.Vertx;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** The configuration as the service would read it here. Blocking. */
final class Settings {
  private static final long LIMIT_S = 30;

  private Settings() {}

  /** Fails with a {@link io.steelyard.config.StartFailure} that names the setting. */
  static Config load() {
    Vertx vertx = Vertx.vertx();
    try {
      return ConfigLoader.load(vertx, System.getenv(), System.getProperties(), Path.of(""))
          .await(LIMIT_S, TimeUnit.SECONDS);
    } catch (TimeoutException e) {
      throw new CommandFailure("the settings could not be read within " + LIMIT_S + " s");
    } finally {
      vertx.close().await();
    }
  }
}

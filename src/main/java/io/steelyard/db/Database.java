package io.steelyard.db;

import io.steelyard.config.Config;
import io.steelyard.config.Encryption;
import io.steelyard.config.StartFailure;
import java.io.IOException;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The database of this process: our own in the data directory, or one elsewhere. Blocking. */
public final class Database {
  private static final Logger LOG = LoggerFactory.getLogger(Database.class);
  private static final String ENCRYPTION_KEY_FILE = "encryption.key";

  private final Endpoint endpoint;
  private final Map<String, String> session;
  private final DataDirectory directory;
  private final EmbeddedDatabase embedded;

  private Database(
      Endpoint endpoint,
      Map<String, String> session,
      DataDirectory directory,
      EmbeddedDatabase embedded) {
    this.endpoint = endpoint;
    this.session = session;
    this.directory = directory;
    this.embedded = embedded;
  }

  /** A database that answers, or a {@link StartFailure} that says why there is none. */
  public static Database open(Config.Database config, Path workDir) {
    if (!config.embedded()) {
      Endpoint endpoint = Endpoint.of(config.parsedUrl());
      Encrypting.check(endpoint.encryption());
      if (endpoint.encryption().mode() == Encryption.Mode.DISABLE && !endpoint.isHere()) {
        LOG.warn(
            "What goes to and from {} is not encrypted: see sslmode of database.url", endpoint);
      }
      Map<String, String> session =
          new LinkedHashMap<>(FirstConnection.await(endpoint, config.connectTimeoutMs()));
      if (config.distributed()) {
        session.putAll(Distribution.SESSION);
      }
      return new Database(endpoint, session, null, null);
    }
    DataDirectory directory = DataDirectory.open(workDir.resolve(config.dataDir()));
    try {
      EmbeddedDatabase embedded = EmbeddedDatabase.start(directory, config);
      return new Database(embedded.endpoint(), Map.of(), directory, embedded); // it goes with us
    } catch (RuntimeException e) {
      release(directory);
      throw e;
    }
  }

  public Endpoint endpoint() {
    return endpoint;
  }

  /**
   * Brings it to the schema of this build, with its tables where they belong.
   *
   * @return the schema's version afterwards
   */
  public String migrate(Config.Database config) {
    return migrate(config, () -> {});
  }

  /**
   * As {@link #migrate(Config.Database)}.
   *
   * @param beforeMigrating called where the schema is another one, and where tables are to be
   *     moved; what it throws ends this, with nothing changed
   */
  public String migrate(Config.Database config, Runnable beforeMigrating) {
    try (Connection connection = endpoint.connect()) {
      Liveness.set(connection, session); // one that is gone must hold nothing for long
      String schema = Migrations.migrate(connection, beforeMigrating);
      Distribution.apply(connection, config.distributed(), beforeMigrating);
      return schema;
    } catch (SQLException e) {
      throw new StartFailure("the database cannot be reached any more: " + e.getMessage(), e);
    }
  }

  /** The pools of this database. */
  public Pools pools(Config.Database config) {
    return new Pools(config, endpoint, session);
  }

  /** The key kept beside the embedded data; a database elsewhere needs a configured one. */
  public Optional<String> encryptionKey() {
    return Optional.ofNullable(directory).map(kept -> kept.secret(ENCRYPTION_KEY_FILE));
  }

  /**
   * Leaves a note beside the embedded data, for its owner's eyes; nothing for any other database.
   */
  public void leave(String fileName, String text) {
    if (directory != null) {
      directory.leave(fileName, text);
    }
  }

  /** Stops what {@link #open} started; false when that failed and was logged. */
  public boolean close(Duration limit) {
    if (embedded == null) {
      return true;
    }
    boolean stopped = embedded.stop(limit);
    return release(directory) && stopped;
  }

  private static boolean release(DataDirectory directory) {
    try {
      directory.close();
      return true;
    } catch (IOException e) {
      LOG.error("Could not release the lock of {}", directory.path(), e);
      return false;
    }
  }
}

package io.steelyard.cli;

import io.steelyard.config.Config;
import io.steelyard.db.Database;
import io.steelyard.json.Json;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.Callable;
import org.flywaydb.core.api.FlywayException;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

@Command(
    name = "migrate",
    description = {
      "Brings the database's schema to what this version needs, and ends.",
      "A start does the same; several at once wait for one another. With the embedded database no"
          + " service may be running."
    },
    mixinStandardHelpOptions = true)
final class MigrateCommand implements Callable<Integer> {
  private static final Duration STOP_LIMIT = Duration.ofSeconds(30);

  @Spec private CommandSpec spec;

  @Option(names = "--json", description = "Print JSON.")
  private boolean json;

  @Override
  public Integer call() {
    Config config = Settings.load();
    Database database = Database.open(config.database(), Path.of(""));
    String version;
    boolean stopped;
    try {
      version = database.migrate(config.database());
    } catch (FlywayException e) {
      throw new CommandFailure("the schema could not be brought up to date: " + e.getMessage());
    } finally {
      stopped = database.close(STOP_LIMIT);
    }
    show(database, version);
    return stopped ? Cli.OK : Cli.FAILED;
  }

  private void show(Database database, String version) {
    PrintWriter out = spec.commandLine().getOut();
    out.println(
        json
            ? Json.encodeText(
                Map.of("database", database.endpoint().toString(), "schemaVersion", version))
            : Shown.line("Database " + database.endpoint() + " has schema version " + version));
  }
}

package io.steelyard.cli;

import io.steelyard.config.Config;
import io.steelyard.json.Json;
import java.io.PrintWriter;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

@Command(
    name = "check-config",
    description = {
      "Prints the settings in force, secrets masked, or everything that cannot be.",
      "Reads them as a start would; nothing is connected to."
    },
    mixinStandardHelpOptions = true)
final class CheckConfigCommand implements Callable<Integer> {
  @Spec private CommandSpec spec;

  @Option(names = "--json", description = "Print JSON.")
  private boolean json;

  @Override
  public Integer call() {
    Config config = Settings.load();
    PrintWriter out = spec.commandLine().getOut();
    if (json) {
      out.println(Json.encodeText(config.shown()));
    } else {
      config.shown().forEach((name, value) -> out.println(Shown.line(name + " = " + value)));
    }
    return Cli.OK;
  }
}

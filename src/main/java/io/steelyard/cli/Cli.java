package io.steelyard.cli;

import io.steelyard.config.StartFailure;
import java.io.PrintWriter;
import java.util.List;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.ParameterException;

/** All commands, and what becomes of their failures. */
public final class Cli {
  /** Not an exit code: the service runs, and the process ends with it. */
  public static final int SERVING = -1;

  static final int OK = 0;
  static final int FAILED = 1;

  private static final int WIDTH = 100;

  private final CommandLine commands;

  /**
   * @param serve starts the service and returns, as the process does without arguments
   */
  public Cli(Runnable serve, PrintWriter out, PrintWriter err) {
    this.commands =
        new CommandLine(new Root())
            .addSubcommand(new RunCommand(serve))
            .addSubcommand(new MigrateCommand())
            .addSubcommand(new CheckConfigCommand())
            .addSubcommand(new MerchantCommands())
            .addSubcommand(new KeyCommands())
            .addSubcommand(new CatalogCommands())
            .addSubcommand(new IntegrityCommands())
            .setUsageHelpWidth(WIDTH)
            .setOut(out)
            .setErr(err)
            .setParameterExceptionHandler((error, args) -> misunderstood(error))
            .setExecutionExceptionHandler((error, command, parsed) -> failed(error, command));
  }

  /** The exit code of one command, or {@link #SERVING}. */
  public int execute(String... args) {
    return commands.execute(args);
  }

  @Command(
      name = "steelyard",
      description = "Subscription billing and usage metering.",
      mixinStandardHelpOptions = true,
      versionProvider = Version.class,
      synopsisSubcommandLabel = "COMMAND",
      footer = {
        "",
        "Without a command the service runs, as with run. Settings come from conf/config.json, the"
            + " file named by STEELYARD_CONFIG, the environment and system properties.",
        "",
        "Exit codes: 0 done, 1 not done or something was found, 2 wrong usage."
      })
  private static final class Root {}

  static final class Version implements IVersionProvider {
    @Override
    public String[] getVersion() {
      String version = Cli.class.getPackage().getImplementationVersion();
      return new String[] {"steelyard " + (version == null ? "(not packaged)" : version)};
    }
  }

  private static int misunderstood(ParameterException error) {
    CommandLine command = error.getCommandLine();
    PrintWriter err = command.getErr();
    err.println("steelyard: " + Shown.line(error.getMessage()));
    CommandLine.UnmatchedArgumentException.printSuggestions(error, err);
    err.println("Try: " + command.getCommandSpec().qualifiedName() + " --help");
    return command.getCommandSpec().exitCodeOnInvalidInput();
  }

  private static int failed(Exception error, CommandLine command) {
    List<String> lines =
        switch (error) {
          case StartFailure failure -> failure.lines();
          case CommandFailure failure -> failure.lines();
          default -> List.of(error.getClass().getName() + ": " + error.getMessage());
        };
    PrintWriter err = command.getErr();
    err.println("steelyard: " + Shown.line(lines.getFirst()));
    lines.stream().skip(1).forEach(line -> err.println(Shown.line(line)));
    return FAILED;
  }
}

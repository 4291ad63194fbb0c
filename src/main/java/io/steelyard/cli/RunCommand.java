package io.steelyard.cli;

import java.util.concurrent.Callable;
import picocli.CommandLine.Command;

@Command(
    name = "run",
    description = "Runs the service until it is told to stop; the same as no command.",
    mixinStandardHelpOptions = true)
final class RunCommand implements Callable<Integer> {
  private final Runnable serve;

  RunCommand(Runnable serve) {
    this.serve = serve;
  }

  @Override
  public Integer call() {
    serve.run();
    return Cli.SERVING;
  }
}

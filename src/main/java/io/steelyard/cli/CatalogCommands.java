package io.steelyard.cli;

import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

@Command(
    name = "catalog",
    description = "Applies and exports what a merchant sells.",
    mixinStandardHelpOptions = true,
    synopsisSubcommandLabel = "COMMAND",
    subcommands = {CatalogCommands.Apply.class, CatalogCommands.Export.class})
final class CatalogCommands {
  private static final String JSON = "application/json";
  private static final String YAML = "application/yaml";

  private static String path(String merchant) {
    return MerchantCommands.path(merchant) + "/catalog";
  }

  @Command(
      name = "apply",
      description = {
        "Makes the catalogue equal to a document, and prints what changed.",
        "All or nothing. What the document no longer names is archived."
      },
      mixinStandardHelpOptions = true)
  static final class Apply implements Callable<Integer> {
    private static final String STDIN = "-";

    @Spec private CommandSpec spec;
    @Mixin private OperatorOptions operator;

    @Option(names = "--merchant", required = true, paramLabel = "ID")
    private String merchant;

    @Parameters(
        paramLabel = "FILE",
        description =
            "The document: JSON if its name ends in .json, else YAML; - for YAML on stdin.")
    private String file;

    @Override
    public Integer call() {
      boolean isJson = file.toLowerCase(Locale.ROOT).endsWith(".json");
      byte[] document = document();
      OperatorClient client = operator.connect();
      String answer = client.put(path(merchant), document, isJson ? JSON : YAML);
      PrintWriter out = spec.commandLine().getOut();
      if (operator.json()) {
        out.println(answer);
        return Cli.OK;
      }
      List<?> changes = (List<?>) client.object(answer).get("changes");
      if (changes.isEmpty()) {
        out.println("nothing changed");
      }
      changes.forEach(change -> out.println(Shown.line(line((Map<?, ?>) change))));
      return Cli.OK;
    }

    private byte[] document() {
      try {
        return file.equals(STDIN) ? System.in.readAllBytes() : Files.readAllBytes(Path.of(file));
      } catch (IOException e) {
        throw new CommandFailure(file + " cannot be read");
      }
    }

    private static String line(Map<?, ?> change) {
      List<?> fields = (List<?>) change.get("fields");
      return "%s %s %s%s"
          .formatted(
              change.get("action"),
              change.get("kind"),
              change.get("key"),
              fields.isEmpty() ? "" : " " + fields);
    }
  }

  @Command(
      name = "export",
      description = {
        "Prints the catalogue as a document that, applied, changes nothing.",
        "In YAML, or with --json in JSON."
      },
      mixinStandardHelpOptions = true)
  static final class Export implements Callable<Integer> {
    @Spec private CommandSpec spec;
    @Mixin private OperatorOptions operator;

    @Option(names = "--merchant", required = true, paramLabel = "ID")
    private String merchant;

    @Override
    public Integer call() {
      String document = operator.connect().get(path(merchant), operator.json() ? JSON : YAML);
      PrintWriter out = spec.commandLine().getOut();
      out.print(document.endsWith("\n") ? document : document + "\n");
      out.flush();
      return Cli.OK;
    }
  }
}

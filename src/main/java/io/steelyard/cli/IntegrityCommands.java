package io.steelyard.cli;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

@Command(
    name = "integrity",
    description = "Says whether the books are right.",
    mixinStandardHelpOptions = true,
    synopsisSubcommandLabel = "COMMAND",
    subcommands = IntegrityCommands.Check.class)
final class IntegrityCommands {
  @Command(
      name = "check",
      description = {
        "Checks what is stored of a merchant, or of all; fails if anything is found.",
        "Changes nothing."
      },
      mixinStandardHelpOptions = true)
  static final class Check implements Callable<Integer> {
    @Spec private CommandSpec spec;
    @Mixin private OperatorOptions operator;

    @ArgGroup(multiplicity = "1")
    private Whose whose;

    static final class Whose {
      @Option(names = "--merchant", paramLabel = "ID")
      private String merchant;

      @Option(names = "--all", description = "Every merchant; with --json a line for each.")
      private boolean all;
    }

    @Override
    public Integer call() {
      OperatorClient client = operator.connectForChecks();
      List<String> merchants = new ArrayList<>();
      if (whose.all) {
        MerchantCommands.each(client, each -> merchants.add(String.valueOf(each.get("id"))));
      } else {
        merchants.add(whose.merchant);
      }
      boolean clean = true;
      for (String merchant : merchants) {
        clean &= check(client, merchant);
      }
      return clean ? Cli.OK : Cli.FAILED;
    }

    private boolean check(OperatorClient client, String merchant) {
      String answer =
          client.get(MerchantCommands.path(merchant) + "/integrity", "application/json");
      Map<String, Object> report = client.object(answer);
      boolean clean = Boolean.TRUE.equals(report.get("clean"));
      PrintWriter out = spec.commandLine().getOut();
      if (operator.json()) {
        out.println(answer);
        return clean;
      }
      out.println(Shown.line(merchant + (clean ? "  clean" : "  not clean")));
      for (Object each : (List<?>) report.get("findings")) {
        Map<?, ?> finding = (Map<?, ?>) each;
        out.println(
            "  "
                + Shown.line(
                    "%s %s: %s"
                        .formatted(
                            finding.get("check"), finding.get("subject"), finding.get("detail"))));
      }
      return clean;
    }
  }
}

package io.steelyard.cli;

import io.steelyard.json.Json;
import java.io.PrintWriter;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

@Command(
    name = "merchant",
    description = "Creates and lists merchants.",
    mixinStandardHelpOptions = true,
    synopsisSubcommandLabel = "COMMAND",
    subcommands = {MerchantCommands.Create.class, MerchantCommands.ListAll.class})
final class MerchantCommands {
  private static final String MERCHANTS = "/operator/merchants";
  private static final int PAGE_SIZE = 100;

  @Command(
      name = "create",
      description = "Creates a merchant and its first secret key, which is printed this once.",
      mixinStandardHelpOptions = true)
  static final class Create implements Callable<Integer> {
    @Spec private CommandSpec spec;
    @Mixin private OperatorOptions operator;

    @Option(names = "--name", required = true, description = "What people call it.")
    private String name;

    @Option(names = "--environment", required = true, paramLabel = "live|test")
    private String environment;

    @Option(
        names = "--timezone",
        paramLabel = "ZONE",
        description = "Of its billing periods, e.g. Europe/Berlin. Default: UTC.")
    private String timezone;

    @Override
    public Integer call() {
      Map<String, Object> body = new LinkedHashMap<>();
      body.put("name", name);
      body.put("environment", environment);
      if (timezone != null) {
        body.put("timezone", timezone);
      }
      OperatorClient client = operator.connect();
      String answer = client.post(MERCHANTS, body);
      PrintWriter out = spec.commandLine().getOut();
      if (operator.json()) {
        out.println(answer);
        return Cli.OK;
      }
      Map<String, Object> created = client.object(answer);
      Map<?, ?> key = (Map<?, ?>) created.get("apiKey");
      out.println(Shown.line("merchant  " + created.get("id")));
      out.println(Shown.line("key id    " + key.get("id")));
      out.println(Shown.line("key       " + key.get("key")));
      return Cli.OK;
    }
  }

  @Command(
      name = "list",
      description = "Lists all merchants, the oldest first.",
      mixinStandardHelpOptions = true)
  static final class ListAll implements Callable<Integer> {
    @Spec private CommandSpec spec;
    @Mixin private OperatorOptions operator;

    @Override
    public Integer call() {
      PrintWriter out = spec.commandLine().getOut();
      each(operator.connect(), merchant -> out.println(line(merchant)));
      return Cli.OK;
    }

    /** With {@code --json} a line of JSON for each, since they come page by page. */
    private String line(Map<?, ?> merchant) {
      return operator.json()
          ? Json.encodeText(merchant)
          : Shown.line(
              "%s  %-4s  %s  %s"
                  .formatted(
                      merchant.get("id"),
                      merchant.get("environment"),
                      merchant.get("timezone"),
                      merchant.get("name")));
    }
  }

  /** Every merchant, the oldest first. */
  static void each(OperatorClient client, Consumer<Map<?, ?>> action) {
    each(client, MERCHANTS, action);
  }

  /** All of a list, the oldest first, so that what comes meanwhile is the last. */
  static void each(OperatorClient client, String list, Consumer<Map<?, ?>> action) {
    for (int page = 1; ; page++) {
      String path = list + "?order=asc&pageSize=" + PAGE_SIZE + "&page=" + page;
      List<?> results =
          (List<?>) client.object(client.get(path, "application/json")).get("results");
      results.forEach(result -> action.accept((Map<?, ?>) result));
      if (results.size() < PAGE_SIZE) {
        return;
      }
    }
  }

  /** The path below which everything of one merchant is. */
  static String path(String merchant) {
    return MERCHANTS + "/" + OperatorClient.segment(merchant);
  }
}

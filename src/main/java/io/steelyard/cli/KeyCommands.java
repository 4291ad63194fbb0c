package io.steelyard.cli;

import io.steelyard.json.Json;
import java.io.PrintWriter;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

@Command(
    name = "key",
    description = "Creates, lists and revokes API keys of a merchant.",
    mixinStandardHelpOptions = true,
    synopsisSubcommandLabel = "COMMAND",
    subcommands = {KeyCommands.Create.class, KeyCommands.ListAll.class, KeyCommands.Revoke.class})
final class KeyCommands {
  @Command(
      name = "create",
      description = "Creates a further key, which is printed this once.",
      mixinStandardHelpOptions = true)
  static final class Create implements Callable<Integer> {
    @Spec private CommandSpec spec;
    @Mixin private OperatorOptions operator;

    @Option(names = "--merchant", required = true, paramLabel = "ID")
    private String merchant;

    @Option(
        names = "--type",
        paramLabel = "secret|publishable",
        defaultValue = "secret",
        description = "Only secret keys may call the external API. Default: ${DEFAULT-VALUE}.")
    private String type;

    @Option(names = "--name", description = "What the key is for.")
    private String name;

    @Override
    public Integer call() {
      Map<String, Object> body = new LinkedHashMap<>();
      body.put("type", type);
      if (name != null) {
        body.put("name", name);
      }
      OperatorClient client = operator.connect();
      String answer = client.post(MerchantCommands.path(merchant) + "/api-keys", body);
      PrintWriter out = spec.commandLine().getOut();
      if (operator.json()) {
        out.println(answer);
        return Cli.OK;
      }
      Map<String, Object> created = client.object(answer);
      out.println(Shown.line("key id    " + created.get("id")));
      out.println(Shown.line("key       " + created.get("key")));
      return Cli.OK;
    }
  }

  @Command(
      name = "list",
      description = "Lists the merchant's keys, the oldest first, and when each was last used.",
      mixinStandardHelpOptions = true)
  static final class ListAll implements Callable<Integer> {
    @Spec private CommandSpec spec;
    @Mixin private OperatorOptions operator;

    @Option(names = "--merchant", required = true, paramLabel = "ID")
    private String merchant;

    @Override
    public Integer call() {
      PrintWriter out = spec.commandLine().getOut();
      MerchantCommands.each(
          operator.connect(),
          MerchantCommands.path(merchant) + "/api-keys",
          key -> out.println(operator.json() ? Json.encodeText(key) : line(key)));
      return Cli.OK;
    }

    private static String line(Map<?, ?> key) {
      Object name = key.get("name");
      return Shown.line(
          "%s  %-11s  %-34s  %-34s  %s"
              .formatted(
                  key.get("id"),
                  key.get("type"),
                  key.get("lastUsedAt") == null ? "never used" : "used " + key.get("lastUsedAt"),
                  key.get("revokedAt") == null ? "good" : "revoked " + key.get("revokedAt"),
                  name == null ? "" : name));
    }
  }

  @Command(
      name = "revoke",
      description = "Revokes a key: it stops working everywhere within 5 seconds.",
      mixinStandardHelpOptions = true)
  static final class Revoke implements Callable<Integer> {
    @Spec private CommandSpec spec;
    @Mixin private OperatorOptions operator;

    @Option(names = "--merchant", required = true, paramLabel = "ID")
    private String merchant;

    @Parameters(paramLabel = "KEY-ID", description = "The key's id (key_...), not the key.")
    private String key;

    @Override
    public Integer call() {
      operator
          .connect()
          .delete(MerchantCommands.path(merchant) + "/api-keys/" + OperatorClient.segment(key));
      if (!operator.json()) {
        spec.commandLine().getOut().println(Shown.line("revoked " + key));
      }
      return Cli.OK;
    }
  }
}

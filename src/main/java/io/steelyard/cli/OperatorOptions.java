package io.steelyard.cli;

import io.steelyard.config.Config;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Optional;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Which service a command speaks to, and in what form it answers. */
final class OperatorOptions {
  private static final Duration MARGIN = Duration.ofSeconds(5);

  @Option(
      names = "--url",
      paramLabel = "URL",
      description = {
        "The service's management port, e.g. http://127.0.0.1:8081. Default: that of the service"
            + " whose data directory is database.dataDir, else management.host and management.port."
      })
  private URI url;

  @Option(
      names = "--token-file",
      paramLabel = "FILE",
      description = {
        "Where the operator's token is. Default: operator.token, e.g. from STEELYARD_OPERATOR_TOKEN,"
            + " or what the service whose data directory is database.dataDir made for itself."
      })
  private Path tokenFile;

  @Mixin private ClientTls tls;

  @Option(names = "--json", description = "Print the service's answer as it is: JSON.")
  private boolean json;

  boolean json() {
    return json;
  }

  /** The service's operator API. */
  OperatorClient connect() {
    Config config = Settings.load();
    return connect(config, Duration.ofMillis(config.timeouts().requestMs()));
  }

  /** As {@link #connect()}, for what may take as long as an integrity check. */
  OperatorClient connectForChecks() {
    Config config = Settings.load();
    return connect(config, Duration.ofMillis(config.integrity().timeoutMs()));
  }

  private OperatorClient connect(Config config, Duration limit) {
    Optional<OperatorNote> note =
        config.database().embedded()
            ? OperatorNote.read(Path.of(config.database().dataDir()))
            : Optional.empty();
    URI base = base(config, note);
    return new OperatorClient(
        base, tls.context(certificate(config)), token(config, note, base), limit.plus(MARGIN));
  }

  /** Of the service that the settings lead to: they tell of no other. */
  private Path certificate(Config config) {
    boolean known = url == null && config.management().tls().enabled();
    return known ? Path.of(config.management().tls().certificatePath()) : null;
  }

  private URI base(Config config, Optional<OperatorNote> note) {
    URI base = url;
    if (base == null) {
      int port = config.management().port();
      if (note.isPresent()) {
        base = URI.create(note.get().url());
      } else if (port == 0) {
        throw new CommandFailure("management.port is 0: say with --url where the service is");
      } else {
        base = URI.create(config.management().tls().url(config.management().host(), port));
      }
    }
    boolean http = "http".equals(base.getScheme()) || "https".equals(base.getScheme());
    if (!http || base.getHost() == null || base.getUserInfo() != null) {
      throw new CommandFailure(
          "--url must be like http://127.0.0.1:8081, without user or password");
    }
    return base;
  }

  private String token(Config config, Optional<OperatorNote> note, URI base) {
    if (tokenFile != null) {
      return fileToken();
    }
    if (config.operator().token() != null) {
      return config.operator().token();
    }
    // A token goes only to the service that made it.
    return note.filter(left -> left.token() != null && base.equals(URI.create(left.url())))
        .map(OperatorNote::token)
        .orElseThrow(
            () ->
                new CommandFailure(
                    "no operator token is known: set STEELYARD_OPERATOR_TOKEN, or name a file with"
                        + " --token-file"));
  }

  private String fileToken() {
    try {
      String token = Files.readString(tokenFile).strip();
      if (token.isEmpty()) {
        throw new CommandFailure("--token-file " + tokenFile + " is empty");
      }
      return token;
    } catch (IOException e) {
      throw new CommandFailure("--token-file " + tokenFile + " cannot be read");
    }
  }
}

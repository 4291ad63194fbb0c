package io.steelyard.cli;

import io.netty.handler.ssl.JdkSslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;
import java.nio.file.Files;
import java.nio.file.Path;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLException;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Option;

/** Whom a command trusts, and what it shows of itself, where the service speaks TLS. PEM files. */
final class ClientTls {
  @Option(
      names = "--ca",
      paramLabel = "FILE",
      description = {
        "The authority of the service's certificate, in PEM. Default: management.tls.certificatePath"
            + " where there is no --url, else those that Java knows."
      })
  private Path authority;

  @ArgGroup(exclusive = false)
  private Shown shown;

  private static final class Shown {
    @Option(
        names = "--certificate",
        required = true,
        paramLabel = "FILE",
        description = "Shown to a service whose management.tls.clientAuth asks for it, in PEM.")
    private Path certificate;

    @Option(
        names = "--key",
        required = true,
        paramLabel = "FILE",
        description = "The certificate's private key, in PEM (PKCS #8), not encrypted.")
    private Path key;
  }

  /**
   * For connections to the service; names of hosts are checked by who connects.
   *
   * @param known trusted where the command line names no authority; null for those Java knows
   */
  SSLContext context(Path known) {
    SslContextBuilder builder = SslContextBuilder.forClient().sslProvider(SslProvider.JDK);
    Path trusted = authority == null ? known : authority;
    if (trusted != null) {
      readable(trusted);
      set(() -> builder.trustManager(trusted.toFile()), trusted + " holds no certificate in PEM");
    }
    if (shown != null) {
      readable(shown.certificate);
      readable(shown.key);
      set(
          () -> builder.keyManager(shown.certificate.toFile(), shown.key.toFile()),
          shown.certificate
              + " and "
              + shown.key
              + " are not a certificate and its key in PEM (PKCS #8)");
    }
    try {
      return ((JdkSslContext) builder.build()).context();
    } catch (SSLException e) {
      throw new CommandFailure("the certificates cannot be used: " + e.getMessage());
    }
  }

  private static void readable(Path file) {
    if (!Files.isReadable(file)) {
      throw new CommandFailure(file + " cannot be read");
    }
  }

  private static void set(Runnable setting, String otherwise) {
    try {
      setting.run();
    } catch (IllegalArgumentException e) {
      throw new CommandFailure(otherwise);
    }
  }
}

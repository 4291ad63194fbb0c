package io.steelyard.config;

/**
 * The certificate of one port, and whose certificates it takes. All files are PEM.
 *
 * @param certificatePath the port's own, followed by those that link it to its authority; unset
 *     means clear text
 * @param keyPath its private key, not encrypted
 * @param clientAuth {@code request}: a client may show a certificate; {@code required}: it must
 * @param clientCaPath the authorities that must have issued what a client shows
 * @param reloadMs how often is looked whether the files have changed
 */
public record Tls(
    @Unset String certificatePath,
    @Unset String keyPath,
    @OneOf({"none", "request", "required"}) String clientAuth,
    @Unset String clientCaPath,
    @Range(min = 100, max = 86_400_000) int reloadMs) {
  /** Whether the port speaks TLS. */
  public boolean enabled() {
    return certificatePath != null;
  }

  /**
   * Of the port, on this machine: an address that stands for all is reached over the loopback one.
   *
   * @param host that it listens on
   */
  public String url(String host, int port) {
    String reachable = host.equals("0.0.0.0") || host.equals("::") ? "127.0.0.1" : host;
    String bracketed = reachable.contains(":") ? "[" + reachable + "]" : reachable;
    return (enabled() ? "https://" : "http://") + bracketed + ":" + port;
  }

  boolean asksClients() {
    return !clientAuth.equals("none");
  }
}

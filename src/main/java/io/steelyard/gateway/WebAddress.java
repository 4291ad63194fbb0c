package io.steelyard.gateway;

import java.net.URI;
import java.net.URISyntaxException;
import java.util.Locale;
import java.util.Optional;

/** Which texts are addresses on the web that this service hands out or calls. */
final class WebAddress {
  private WebAddress() {}

  /** Whether {@code text} is an absolute http or https URL. */
  static boolean isAbsolute(String text) {
    return parse(text).isPresent();
  }

  /**
   * Whether a customer may be sent to {@code text}: an absolute http or https URL, in which the
   * gateway may be asked to fill in the session's id.
   */
  static boolean isSuccessUrl(String text) {
    return isAbsolute(text.replace("{CHECKOUT_SESSION_ID}", "id"));
  }

  /**
   * {@code text} as the address that the paths of a gateway's API are appended to, or empty when it
   * cannot be one.
   */
  static Optional<String> asBase(String text) {
    return parse(text)
        .filter(
            uri ->
                uri.getRawUserInfo() == null
                    && uri.getRawQuery() == null
                    && uri.getRawFragment() == null)
        .map(uri -> text.replaceAll("/+$", ""));
  }

  private static Optional<URI> parse(String text) {
    try {
      URI uri = new URI(text).parseServerAuthority();
      boolean web =
          uri.getScheme() != null
              && uri.getScheme().toLowerCase(Locale.ROOT).matches("https?")
              && uri.getHost() != null
              && uri.getPort() <= 65_535;
      return web ? Optional.of(uri) : Optional.empty();
    } catch (URISyntaxException e) {
      return Optional.empty();
    }
  }
}

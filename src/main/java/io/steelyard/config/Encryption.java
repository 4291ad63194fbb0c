package io.steelyard.config;

import java.util.Arrays;
import java.util.Optional;

/**
 * Whether connections to the database are encrypted, and to whom.
 *
 * @param rootCert file in PEM with the authorities that the server's certificate must come from;
 *     null where nobody looks at it
 */
public record Encryption(Mode mode, String rootCert) {
  public static final Encryption NONE = new Encryption(Mode.DISABLE, null);

  /** As libpq and the JDBC driver mean them. */
  public enum Mode {
    DISABLE("disable"),
    /** Against who only listens: nobody looks at the server's certificate. */
    REQUIRE("require"),
    VERIFY_CA("verify-ca"),
    /** The certificate must also be of the host that was asked for. */
    VERIFY_FULL("verify-full");

    private final String text;

    Mode(String text) {
      this.text = text;
    }

    public String text() {
      return text;
    }

    static Optional<Mode> of(String text) {
      return Arrays.stream(values()).filter(mode -> mode.text.equals(text)).findFirst();
    }

    public boolean verifies() {
      return this == VERIFY_CA || this == VERIFY_FULL;
    }
  }
}

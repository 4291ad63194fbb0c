package io.steelyard.config;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The parts of {@code postgresql://user:password@host:port/db?sslmode=...&sslrootcert=...},
 * percent-decoded.
 */
public record DatabaseUrl(
    String host, int port, String database, String user, String password, Encryption encryption) {
  private static final int DEFAULT_PORT = 5432;
  private static final Pattern FORM =
      Pattern.compile(
          "postgres(?:ql)?://([^:@/?#]+)(?::([^@/?#]*))?@"
              + "(?:\\[([0-9A-Fa-f:.]+)]|([^:/?#\\[\\]@]+))(?::(\\d{1,5}))?/([^/?#]+)"
              + "(?:\\?([^?#]*))?");
  private static final String MODE = "sslmode";
  private static final String ROOT_CERT = "sslrootcert";

  /** Refuses without repeating the text, which holds a password. */
  public static DatabaseUrl parse(String url) {
    Matcher form = FORM.matcher(url);
    if (!form.matches()) {
      throw malformed();
    }
    int port = form.group(5) == null ? DEFAULT_PORT : Integer.parseInt(form.group(5));
    if (port < 1 || port > 65535) {
      throw malformed();
    }
    return new DatabaseUrl(
        form.group(3) == null ? form.group(4) : form.group(3),
        port,
        decoded(form.group(6)),
        decoded(form.group(1)),
        form.group(2) == null ? "" : decoded(form.group(2)),
        form.group(7) == null ? Encryption.NONE : encryption(form.group(7)));
  }

  /** Names every fault; values of parameters that are not known may be secrets. */
  private static Encryption encryption(String query) {
    Map<String, String> given = new HashMap<>();
    Set<String> faults = new LinkedHashSet<>();
    for (String parameter : query.split("&", -1)) {
      String[] parts = parameter.split("=", 2);
      if (parts.length != 2 || !(parts[0].equals(MODE) || parts[0].equals(ROOT_CERT))) {
        faults.add("database.url may have the parameters sslmode and sslrootcert only");
      } else if (given.put(parts[0], decoded(parts[1])) != null) {
        faults.add("database.url must have its parameter %s once".formatted(parts[0]));
      }
    }
    String rootCert = given.get(ROOT_CERT);
    Encryption.Mode mode = Encryption.Mode.DISABLE;
    if (given.containsKey(MODE)) {
      mode = Encryption.Mode.of(given.get(MODE)).orElse(null);
    }
    if (mode == null) {
      faults.add(
          "database.url must have an sslmode of disable, require, verify-ca or verify-full"
              + " (allow and prefer would go on in clear text)");
    } else if (mode.verifies() && (rootCert == null || rootCert.isBlank())) {
      faults.add(
          "database.url must name a PEM file as sslrootcert where sslmode is " + mode.text());
    } else if (!mode.verifies() && rootCert != null) {
      faults.add(
          "database.url must have an sslmode of verify-ca or verify-full where sslrootcert is set");
    }
    if (!faults.isEmpty()) {
      throw ConfigException.of(List.copyOf(faults));
    }
    return new Encryption(mode, rootCert);
  }

  private static String decoded(String part) {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    byte[] raw = part.getBytes(StandardCharsets.UTF_8);
    for (int i = 0; i < raw.length; i++) {
      if (raw[i] != '%') {
        bytes.write(raw[i]);
        continue;
      }
      int high = i + 2 < raw.length ? Character.digit(raw[i + 1], 16) : -1;
      int low = i + 2 < raw.length ? Character.digit(raw[i + 2], 16) : -1;
      if (high < 0 || low < 0) {
        throw malformed();
      }
      bytes.write(high * 16 + low);
      i += 2;
    }
    return bytes.toString(StandardCharsets.UTF_8);
  }

  private static ConfigException malformed() {
    return new ConfigException(
        "database.url must have the form postgresql://user:password@host:port/db, special"
            + " characters of user and password percent-encoded, no parameters but sslmode and"
            + " sslrootcert"
            + " (its value is not shown)");
  }

  /** Without the password, for logs. */
  @Override
  public String toString() {
    return user + "@" + host + ":" + port + "/" + database;
  }
}

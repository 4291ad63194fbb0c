package io.steelyard.config;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The parts of {@code postgresql://user:password@host:port/db}, percent-decoded. */
public record DatabaseUrl(String host, int port, String database, String user, String password) {
  private static final int DEFAULT_PORT = 5432;
  private static final Pattern FORM =
      Pattern.compile(
          "postgres(?:ql)?://([^:@/?#]+)(?::([^@/?#]*))?@"
              + "(?:\\[([0-9A-Fa-f:.]+)]|([^:/?#\\[\\]@]+))(?::(\\d{1,5}))?/([^/?#]+)");

  /** Refuses without repeating the text, which holds a password. */
  static DatabaseUrl parse(String url) {
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
        form.group(2) == null ? "" : decoded(form.group(2)));
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
            + " characters of user and password percent-encoded, no parameters"
            + " (its value is not shown)");
  }

  /** Without the password, for logs. */
  @Override
  public String toString() {
    return user + "@" + host + ":" + port + "/" + database;
  }
}

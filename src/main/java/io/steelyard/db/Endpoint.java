package io.steelyard.db;

import io.steelyard.config.DatabaseUrl;
import io.steelyard.config.Encryption;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;

/** Where the database is, who we are there, and whether others may listen. */
public record Endpoint(
    String host, int port, String database, String user, String password, Encryption encryption) {

  /** In clear text. */
  public Endpoint(String host, int port, String database, String user, String password) {
    this(host, port, database, user, password, Encryption.NONE);
  }

  public static Endpoint of(DatabaseUrl url) {
    return new Endpoint(
        url.host(), url.port(), url.database(), url.user(), url.password(), url.encryption());
  }

  /** For start-up; encrypted as the pools are, so that both are let in or neither is. */
  public String jdbcUrl() {
    String bracketed = host.contains(":") ? "[" + host + "]" : host;
    String name = URLEncoder.encode(database, StandardCharsets.UTF_8);
    String url = "jdbc:postgresql://" + bracketed + ":" + port + "/" + name + "?sslmode=";
    String rootCert = encryption.rootCert();
    return url
        + encryption.mode().text()
        + (rootCert == null
            ? ""
            : "&sslrootcert=" + URLEncoder.encode(rootCert, StandardCharsets.UTF_8))
        + "&tcpKeepAlive=true";
  }

  /** A session of its own, which its owner closes. Blocking. */
  public Connection connect() throws SQLException {
    return DriverManager.getConnection(jdbcUrl(), user, password);
  }

  /** Whether nothing goes over a network. */
  boolean isHere() {
    return host.equals("localhost") || host.equals("::1") || host.startsWith("127.");
  }

  /** Without the password, for logs. */
  @Override
  public String toString() {
    return user + "@" + host + ":" + port + "/" + database;
  }
}

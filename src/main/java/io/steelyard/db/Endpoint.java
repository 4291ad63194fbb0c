package io.steelyard.db;

import io.steelyard.config.DatabaseUrl;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;

/** Where the database is and who we are there. */
public record Endpoint(String host, int port, String database, String user, String password) {

  public static Endpoint of(DatabaseUrl url) {
    return new Endpoint(url.host(), url.port(), url.database(), url.user(), url.password());
  }

  /** For start-up; unencrypted like the pools, so that both are let in or neither is. */
  public String jdbcUrl() {
    String bracketed = host.contains(":") ? "[" + host + "]" : host;
    String name = URLEncoder.encode(database, StandardCharsets.UTF_8);
    return "jdbc:postgresql://" + bracketed + ":" + port + "/" + name + "?sslmode=disable";
  }

  /** Without the password, for logs. */
  @Override
  public String toString() {
    return user + "@" + host + ":" + port + "/" + database;
  }
}

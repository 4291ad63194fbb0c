package io.steelyard.db;

import io.steelyard.config.DatabaseUrl;

/** Where the database is and who we are there. */
public record Endpoint(String host, int port, String database, String user, String password) {

  public static Endpoint of(DatabaseUrl url) {
    return new Endpoint(url.host(), url.port(), url.database(), url.user(), url.password());
  }

  public String jdbcUrl() {
    String bracketed = host.contains(":") ? "[" + host + "]" : host;
    return "jdbc:postgresql://" + bracketed + ":" + port + "/" + database;
  }

  /** Without the password, for logs. */
  @Override
  public String toString() {
    return user + "@" + host + ":" + port + "/" + database;
  }
}

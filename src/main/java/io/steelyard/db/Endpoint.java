package io.steelyard.db;

/** Where the database is and who we are there. */
public record Endpoint(String host, int port, String database, String user, String password) {

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

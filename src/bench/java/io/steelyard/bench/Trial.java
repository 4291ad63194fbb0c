package io.steelyard.bench;

import java.io.IOException;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Locale;
import java.util.Map;

/** A service of its own, what it was sent, and what it acknowledged of that. */
final class Trial implements AutoCloseable {
  private static final double MIB = 1048576;

  final Bench.Options options;
  final ServiceProcess service;
  private final Connection database;
  private final Acknowledged acknowledged = new Acknowledged();

  private Trial(Bench.Options options, ServiceProcess service, Connection database) {
    this.options = options;
    this.service = service;
    this.database = database;
  }

  static Trial start(Bench.Options options) throws IOException, SQLException, InterruptedException {
    return start(options, Map.of());
  }

  static Trial start(Bench.Options options, Map<String, String> settings)
      throws IOException, SQLException, InterruptedException {
    ServiceProcess service = ServiceProcess.start(options, settings);
    if (!options.small()) {
      service.database().makeLogFiles();
    }
    return new Trial(options, service, service.database().connect());
  }

  Metered merchant() throws IOException, InterruptedException {
    return Metered.start(service, options.customers());
  }

  /** As fast as the answers come. */
  Load.Settings closed(Metered merchant, int eventsEach, int connections, int seconds) {
    return Load.Settings.closed(
        service.port, connections, seconds, merchant.events(eventsEach, options.keys()));
  }

  /**
   * A fixed rate.
   *
   * @param perSecond requests
   */
  Load.Settings open(
      Metered merchant, int eventsEach, int connections, double perSecond, int seconds) {
    return Load.Settings.open(
        service.port, connections, perSecond, seconds, merchant.events(eventsEach, options.keys()));
  }

  /** Until Java has compiled what is measured next. */
  void warmUp(Load.Settings settings, int eventsEach) throws IOException {
    acknowledge(Load.run(settings.seconds(options.warmUpSeconds())), eventsEach);
  }

  /** Events that are all to be taken. */
  Measured taken(Load.Settings settings, int eventsEach) throws IOException {
    return acknowledge(Load.run(settings).requireOnly(202), eventsEach);
  }

  /** Remembers what is to be found in the end. */
  Measured acknowledge(Measured measured, int eventsEach) {
    acknowledged.add(measured.requireNoFaults(), eventsEach);
    return measured;
  }

  void acknowledge(Freshness freshness) {
    acknowledged.add(freshness.events(), freshness.events());
  }

  long events() {
    return acknowledged.events();
  }

  /** Compares the tables with what was acknowledged, once all is counted. */
  String check() throws IOException, SQLException, InterruptedException {
    return acknowledged.check(service);
  }

  double peakMib() throws IOException {
    return service.peakBytes() / MIB;
  }

  Connection database() {
    return database;
  }

  /** Begun with the machine and the settings. */
  Report report(String title, Object... values) throws IOException, SQLException {
    return new Report(String.format(Locale.ROOT, title, values))
        .surroundings(database, options.heap());
  }

  @Override
  public void close() throws IOException, SQLException {
    database.close();
    service.close();
  }
}

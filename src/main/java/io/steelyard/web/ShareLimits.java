package io.steelyard.web;

import io.steelyard.config.Config;

/**
 * What one merchant may have in all instances of a process together: a percentage of what a single
 * instance takes, be it of HTTP or of a feature behind it.
 *
 * @param requestsMax in flight
 * @param silentMax requests whose bodies have fallen silent
 * @param bytesMax of the bodies of both
 * @param bodyMax bytes of a single body, since none is longer
 * @param lineBytesMax of memory for those of one merchant who wait
 * @param linesBytesMax of memory for those of all merchants who wait
 */
record ShareLimits(
    int requestsMax,
    int silentMax,
    long bytesMax,
    int bodyMax,
    long lineBytesMax,
    long linesBytesMax) {
  static ShareLimits of(Config.Limits limits) {
    int requests = Math.min(limits.httpInFlightPerInstance(), limits.verticleInFlightPerInstance());
    int percent = limits.httpInFlightPercentPerMerchant();
    return new ShareLimits(
        Math.ceilDiv(requests * percent, 100),
        Math.ceilDiv(limits.connectionsPerInstance() * percent, 100),
        limits.bodyBytesPerMerchant(),
        limits.bodyBytes(),
        limits.bodyBytesInFlight() / 2,
        limits.bodyBytesInFlight());
  }
}

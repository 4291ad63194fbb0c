package io.steelyard.gateway;

import io.steelyard.bus.Failure.Fault;
import io.steelyard.gateway.GatewayMessages.ConnectGateway;
import java.util.ArrayList;
import java.util.List;

/** What a connection of each kind needs, and what it may not have. */
final class ConnectionTerms {
  static final String SANDBOX = "sandbox";
  static final String HTTP = "http";

  /** What may stand in a header; longer than any gateway's keys. */
  private static final String SECRET = "[\\x21-\\x7e]{1,512}";

  private ConnectionTerms() {}

  static List<Fault> faults(ConnectGateway message) {
    if (SANDBOX.equals(message.kind())) {
      return sandboxFaults(message);
    }
    if (HTTP.equals(message.kind())) {
      return httpFaults(message);
    }
    return List.of(Fault.at("/kind", "enum", "must be sandbox or http"));
  }

  private static List<Fault> sandboxFaults(ConnectGateway message) {
    List<Fault> faults = new ArrayList<>();
    if (message.baseUrl() != null) {
      faults.add(Fault.at("/baseUrl", "not_allowed", "a sandbox has none"));
    }
    if (message.secret() != null) {
      faults.add(Fault.at("/secret", "not_allowed", "a sandbox has none"));
    }
    return faults;
  }

  private static List<Fault> httpFaults(ConnectGateway message) {
    List<Fault> faults = new ArrayList<>();
    if (message.baseUrl() == null) {
      faults.add(Fault.at("/baseUrl", "required", "is required for kind http"));
    } else if (WebAddress.asBase(message.baseUrl()).isEmpty()) {
      faults.add(
          Fault.at(
              "/baseUrl",
              "format",
              "must be an absolute http or https URL without user, query and fragment"));
    }
    if (message.secret() == null) {
      faults.add(Fault.at("/secret", "required", "is required for kind http"));
    } else if (!message.secret().matches(SECRET)) {
      faults.add(
          Fault.at("/secret", "pattern", "must be 1 to 512 visible ASCII characters, no spaces"));
    }
    return faults;
  }
}

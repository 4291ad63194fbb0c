package io.steelyard.integrity;

import io.steelyard.bus.Address;
import io.steelyard.bus.Reply;
import io.steelyard.bus.Request;
import io.steelyard.domain.Id;
import io.steelyard.domain.WireName;
import java.time.Instant;
import java.util.List;

/** What the integrity check may be asked. */
public sealed interface IntegrityMessages<R extends Reply> extends Request<R> {
  @Override
  default Address address() {
    return Address.INTEGRITY;
  }

  /** Checks everything of the call's merchant, however long it takes until the call's deadline. */
  record CheckIntegrity() implements IntegrityMessages<IntegrityReport> {}

  /**
   * @param checkedAt the system's time of the snapshot
   * @param findings at most {@link Inspection#FINDINGS_MAX} of each check
   */
  record IntegrityReport(
      Id merchantId,
      Instant checkedAt,
      boolean clean,
      List<CheckResult> checks,
      List<Finding> findings)
      implements Reply {
    public IntegrityReport {
      checks = List.copyOf(checks);
      findings = List.copyOf(findings);
    }
  }

  /**
   * @param checked how many subjects were looked at
   * @param faults how many of them were wrong, also those without a finding
   */
  record CheckResult(Check name, long checked, long faults) {}

  /**
   * @param detail what is and what should be, for people
   */
  record Finding(Check check, Id subject, String detail) {}

  /** What is checked. */
  enum Check implements WireName {
    /** Blocks and their ledger. */
    LEDGER("ledger"),
    /** Periods and the schedule. */
    PERIODS("periods"),
    /** Counters and events, bills and counters. */
    USAGE("usage"),
    /** Invoices and their lines. */
    TOTALS("totals"),
    /** Numbers of invoices and which boundary they are for. */
    NUMBERS("numbers"),
    /** What rows name, and whose that is. */
    REFERENCES("references");

    private final String wire;

    Check(String wire) {
      this.wire = wire;
    }

    @Override
    public String wire() {
      return wire;
    }
  }
}

package io.steelyard.integrity;

import io.steelyard.bus.Call;
import io.steelyard.bus.Failure;
import io.steelyard.bus.FailureException;
import io.steelyard.domain.Id;
import io.steelyard.integrity.IntegrityMessages.Check;
import io.steelyard.integrity.IntegrityMessages.CheckResult;
import io.steelyard.integrity.IntegrityMessages.Finding;
import io.steelyard.integrity.IntegrityMessages.IntegrityReport;
import io.vertx.core.Future;
import io.vertx.sqlclient.SqlConnection;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.BooleanSupplier;

/** One look at everything of one merchant: what was checked so far, and what was found. */
final class Inspection {
  /** Findings of one check; further faults are counted only. */
  static final int FINDINGS_MAX = 100;

  private static final class Tally {
    private long checked;
    private long faults;
    private final List<Finding> findings = new ArrayList<>();
  }

  private final SqlConnection snapshot;
  private final Call call;
  private final BooleanSupplier stopping;
  private final Map<Check, Tally> tallies = new EnumMap<>(Check.class);

  /**
   * @param snapshot in a transaction that sees one state throughout
   */
  Inspection(SqlConnection snapshot, Call call, BooleanSupplier stopping) {
    this.snapshot = snapshot;
    this.call = call;
    this.stopping = stopping;
    for (Check check : Check.values()) {
      tallies.put(check, new Tally());
    }
  }

  SqlConnection snapshot() {
    return snapshot;
  }

  Call call() {
    return call;
  }

  UUID merchantId() {
    return call.merchantId();
  }

  void checked(Check check, long subjects) {
    tallies.get(check).checked += subjects;
  }

  void found(Check check, Id subject, String detail) {
    Tally tally = tallies.get(check);
    tally.faults++;
    if (tally.findings.size() < FINDINGS_MAX) {
      tally.findings.add(new Finding(check, subject, detail));
    }
  }

  /** Faults beyond those that were told. */
  void foundMore(Check check, long faults) {
    tallies.get(check).faults += faults;
  }

  /** Fails where nobody waits for the rest any more. */
  Future<Void> goOn() {
    if (stopping.getAsBoolean()) {
      return FailureException.failed(
          new Failure.Unavailable("stopping", "The service is about to stop.", 1));
    }
    if (call.expired()) {
      return FailureException.failed(
          new Failure.TimedOut("The check took longer than integrity.timeoutMs allows."));
    }
    return Future.succeededFuture();
  }

  IntegrityReport report(Instant checkedAt) {
    return new IntegrityReport(
        call.merchant().id(),
        checkedAt,
        tallies.values().stream().allMatch(tally -> tally.faults == 0),
        Arrays.stream(Check.values())
            .map(
                check ->
                    new CheckResult(check, tallies.get(check).checked, tallies.get(check).faults))
            .toList(),
        tallies.values().stream().flatMap(tally -> tally.findings.stream()).toList());
  }
}

package io.steelyard.fuzz;

import io.steelyard.bus.Failure.Fault;
import io.steelyard.config.Config;
import io.steelyard.json.Json;
import io.steelyard.json.Schemas;
import io.steelyard.json.StrictJson;
import io.steelyard.json.Validator;
import io.steelyard.support.Contract;
import io.steelyard.support.RawHttp.Response;
import io.steelyard.support.TestConfig;
import io.vertx.core.buffer.Buffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/** What every answer must be, whatever was asked. For one thread. */
final class Answers {
  /** What lies inside: it would tell an attacker what to try next. */
  private static final Pattern INSIDE =
      Pattern.compile(
          "\\b(io\\.steelyard|io\\.vertx|io\\.netty|java\\.(util|lang|io)|com\\.fasterxml)\\.|\\.java:"
              + "|Exception\\b|SQLSTATE|violates .* constraint|ERROR: ");

  private static final Config.Limits LIMITS =
      TestConfig.with(Map.of("operator.token", "not-needed-for-this")).limits();

  private final Contract externalContract = Contract.external();
  private final Contract operatorContract = Contract.operator();
  private final Validator externalSchemas = Schemas.external().validator();
  private final Validator operatorSchemas = Schemas.operator().validator();
  private final StrictJson json = new StrictJson(LIMITS);

  List<String> faults(FuzzRequest request, Response answer) {
    List<String> faults = new ArrayList<>();
    int status = answer.status();
    if (status >= 500) {
      faults.add("status " + status);
    }
    if (answer.header("x-request-id") == null) {
      faults.add("no x-request-id");
    }
    if (INSIDE.matcher(answer.body()).find()) {
      faults.add("shows the inside");
    }
    if (status >= 400) {
      checkProblem(answer, faults);
    }
    boolean early = (status == 414 || status == 431) && request.isOversized();
    if (!early) {
      checkDocument(request, answer, faults);
    }
    if (status < 400 && request.json() != null && !fits(request)) {
      faults.add("took a body that does not fit its schema");
    }
    return faults;
  }

  private void checkProblem(Response answer, List<String> faults) {
    if (!"application/problem+json".equals(answer.header("content-type"))) {
      faults.add("a refusal of type " + answer.header("content-type"));
      return;
    }
    Map<String, Object> problem;
    try {
      problem = Json.readMap(answer.body());
    } catch (RuntimeException e) {
      faults.add("no problem: " + e.getMessage());
      return;
    }
    List<Fault> misfits = externalSchemas.check("Problem", problem);
    if (!misfits.isEmpty()) {
      faults.add("no problem: " + misfits);
    } else if (!problem.get("requestId").equals(answer.header("x-request-id"))
        || ((Number) problem.get("status")).intValue() != answer.status()) {
      faults.add("a problem with another status or id than its answer");
    }
  }

  private void checkDocument(FuzzRequest request, Response answer, List<String> faults) {
    FuzzOperation operation = request.operation();
    try {
      (operation.operator() ? operatorContract : externalContract)
          .check(
              operation.method(),
              operation.path(),
              answer.status(),
              answer.header("content-type"),
              answer.body());
    } catch (AssertionError e) {
      faults.add(e.getMessage());
    }
  }

  private boolean fits(FuzzRequest request) {
    StrictJson.Result read = json.read(Buffer.buffer(request.json()));
    Validator schemas = request.operation().operator() ? operatorSchemas : externalSchemas;
    return read.isValid()
        && schemas.check(request.operation().bodySchema(), read.value()).isEmpty();
  }
}

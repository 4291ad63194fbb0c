package io.steelyard.web;

import io.micrometer.core.instrument.Timer;
import io.vertx.core.http.HttpMethod;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;

/** A path of the API with its endpoints. */
record ApiPath(PathTemplate template, List<Served> endpoints) {
  /** The paths in the order of their first endpoints. */
  static List<ApiPath> of(List<Endpoint> endpoints) {
    Map<String, List<Served>> byPath = new LinkedHashMap<>();
    for (Endpoint endpoint : endpoints) {
      byPath
          .computeIfAbsent(endpoint.path(), path -> new ArrayList<>())
          .add(new Served(endpoint, new HashMap<>()));
    }
    List<ApiPath> paths = new ArrayList<>();
    byPath.forEach((path, served) -> paths.add(new ApiPath(new PathTemplate(path), served)));
    return List.copyOf(paths);
  }

  /** Null where the path has no such method. */
  Served served(HttpMethod method) {
    for (Served served : endpoints) {
      if (served.endpoint().method().equals(method)) {
        return served;
      }
    }
    return null;
  }

  Refusal methodRefusal(HttpMethod method) {
    TreeSet<String> allowed = new TreeSet<>();
    endpoints.forEach(served -> allowed.add(served.endpoint().method().name()));
    String name = HttpMethod.values().contains(method) ? method.name() : "such method";
    return Refusal.of(405, "method_not_allowed", "This path has no " + name + ".")
        .with("allow", String.join(", ", allowed));
  }

  /** An endpoint with a timer for each status it has answered. */
  record Served(Endpoint endpoint, Map<Integer, Timer> timers) {}
}

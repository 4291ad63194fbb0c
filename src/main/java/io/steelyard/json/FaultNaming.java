package io.steelyard.json;

import io.steelyard.bus.Failure.Fault;
import io.vertx.json.schema.OutputUnit;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;

/**
 * Turns the errors of one validation into one fault for each place. Beside the real errors,
 * vertx-json-schema reports one for every level above them, one of {@code additionalProperties} for
 * every documented property that is wrong, and those of all the branches of an {@code anyOf}.
 */
final class FaultNaming {
  /** What only says that something below it is wrong. */
  private static final Set<String> WRAPPERS =
      Set.of("properties", "items", "allOf", "anyOf", "if", "else");

  private final Function<String, Map<?, ?>> schemaAt;
  private final Object tree;
  private final String prefix;

  private final Map<String, Named> byPointer = new LinkedHashMap<>();
  private final Set<String> searchedForUnknown = new HashSet<>();
  private final Map<String, String> messages = new HashMap<>();
  private final List<Branch> otherTypes = new ArrayList<>();

  private record Named(FaultCode code, Fault fault) {}

  /** A way through the schema to an instance that turned out to be of another type. */
  private record Branch(String keywordLocation, String instanceLocation) {
    boolean holds(OutputUnit error) {
      return error.getKeywordLocation().startsWith(keywordLocation + '/')
          && (error.getInstanceLocation().equals(instanceLocation)
              || error.getInstanceLocation().startsWith(instanceLocation + '/'));
    }
  }

  /**
   * @param schemaAt the documented schema at a keyword location
   */
  FaultNaming(Function<String, Map<?, ?>> schemaAt, Object tree, String prefix) {
    this.schemaAt = schemaAt;
    this.tree = tree;
    this.prefix = prefix;
  }

  List<Fault> name(List<OutputUnit> errors) {
    for (OutputUnit error : errors) {
      if (keyword(error).equals("anyOf")) {
        chooseBranches(error, errors);
      }
    }
    for (OutputUnit error : errors) {
      if (byPointer.size() < StrictJson.FAULTS_MAX && !isNoise(error)) {
        name(error);
      }
    }
    if (byPointer.isEmpty()) {
      throw new IllegalStateException("an invalid tree without a fault");
    }
    return byPointer.values().stream().map(Named::fault).toList();
  }

  /** The branches for another type of value say nothing, unless no branch is for this one. */
  private void chooseBranches(OutputUnit anyOf, List<OutputUnit> errors) {
    Map<?, ?> schema = schemaOf(anyOf);
    String instance = anyOf.getInstanceLocation();
    if (schema.get("x-message") instanceof String message) {
      messages.put(instance, message);
    }
    int branches = ((List<?>) schema.get("anyOf")).size();
    List<Branch> others = new ArrayList<>();
    for (int i = 0; i < branches; i++) {
      Branch branch = new Branch(anyOf.getKeywordLocation() + '/' + i, instance);
      if (errors.stream().anyMatch(error -> isOtherType(error, branch))) {
        others.add(branch);
      }
    }
    otherTypes.addAll(others.size() == branches ? others.subList(1, branches) : others);
  }

  private static boolean isOtherType(OutputUnit error, Branch branch) {
    return keyword(error).equals("type")
        && error.getInstanceLocation().equals(branch.instanceLocation())
        && branch.holds(error);
  }

  private boolean isNoise(OutputUnit error) {
    return WRAPPERS.contains(keyword(error))
        || otherTypes.stream().anyMatch(branch -> branch.holds(error));
  }

  private void name(OutputUnit error) {
    Map<?, ?> schema = schemaOf(error);
    FaultCode code = FaultCode.of(keyword(error));
    switch (code) {
      case REQUIRED -> nameMissing(schema, error.getInstanceLocation());
      case UNKNOWN_PROPERTY -> nameUnknown(schema, error);
      default -> {
        String message = messages.get(error.getInstanceLocation());
        if (schema.get("x-message") instanceof String own) {
          message = own;
        }
        add(
            pointer(error.getInstanceLocation()),
            code,
            message == null || code == FaultCode.TYPE
                ? code.message(keyword(error), schema)
                : message);
      }
    }
  }

  private void nameMissing(Map<?, ?> schema, String location) {
    Map<?, ?> object = (Map<?, ?>) instanceAt(location);
    for (Object name : (List<?>) schema.get("required")) {
      if (!object.containsKey(name)) {
        add(
            Pointer.child(pointer(location), (String) name),
            FaultCode.REQUIRED,
            FaultCode.REQUIRED.message("required", schema));
      }
    }
  }

  /** All at once from the object itself: the location encodes names in a way of its own. */
  private void nameUnknown(Map<?, ?> schema, OutputUnit error) {
    String location = error.getInstanceLocation();
    String parent = location.substring(0, location.lastIndexOf('/'));
    if (!searchedForUnknown.add(parent + ' ' + error.getKeywordLocation())) {
      return;
    }
    Map<?, ?> documented = (Map<?, ?>) schema.get("properties");
    for (Object name : ((Map<?, ?>) instanceAt(parent)).keySet()) {
      if (!documented.containsKey(name) && byPointer.size() < StrictJson.FAULTS_MAX) {
        add(
            Pointer.child(pointer(parent), (String) name),
            FaultCode.UNKNOWN_PROPERTY,
            FaultCode.UNKNOWN_PROPERTY.message("additionalProperties", schema));
      }
    }
  }

  /** Of several faults in one place the most basic one is told. */
  private void add(String pointer, FaultCode code, String message) {
    Named named = new Named(code, Fault.at(pointer, code.code(), message));
    byPointer.merge(pointer, named, (old, now) -> now.code().compareTo(old.code()) < 0 ? now : old);
  }

  private Map<?, ?> schemaOf(OutputUnit error) {
    String location = error.getKeywordLocation();
    return schemaAt.apply(location.substring(0, location.lastIndexOf('/')));
  }

  private static String keyword(OutputUnit error) {
    String location = error.getKeywordLocation();
    return location.substring(location.lastIndexOf('/') + 1);
  }

  /** Only documented names and indexes lead to errors, and those are written as they are. */
  private String pointer(String instanceLocation) {
    return prefix + instanceLocation.substring(1);
  }

  private Object instanceAt(String instanceLocation) {
    Object node = tree;
    for (String segment : instanceLocation.substring(1).split("/")) {
      if (!segment.isEmpty()) {
        node =
            node instanceof List<?> list
                ? list.get(Integer.parseInt(segment))
                : ((Map<?, ?>) node).get(segment);
      }
    }
    return node;
  }
}

package io.steelyard;

import static com.tngtech.archunit.base.DescribedPredicate.describe;
import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.AccessTarget;
import com.tngtech.archunit.core.domain.JavaAccess;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.ArchRule;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Clock;
import java.util.Date;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Who may know whom. */
class ArchitectureTest {
  private static final JavaClasses STEELYARD =
      new ClassFileImporter()
          .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
          .importPackages("io.steelyard");

  private static final String TOP = "io.steelyard";
  private static final String[] EDGES = {
    "io.steelyard.http..", "io.steelyard.operator..", "io.steelyard.cli.."
  };
  private static final String[] FEATURES =
      packages(
          "merchant",
          "catalog",
          "customer",
          "subscription",
          "invoice",
          "credit",
          "usage",
          "gateway",
          "delivery",
          "integrity");

  /** A feature's messages, with the records inside, may be known by every other feature. */
  private static final DescribedPredicate<JavaClass> MESSAGES =
      describe(
          "messages",
          type ->
              type.getName().startsWith(TOP)
                  && outermost(type).getSimpleName().endsWith("Messages"));

  private static final DescribedPredicate<JavaClass> STORES =
      describe(
          "stores",
          type ->
              type.getName().startsWith(TOP) && outermost(type).getSimpleName().endsWith("Store"));

  @Test
  void domainDependsOnJavaOnly() {
    check(
        classes()
            .that()
            .resideInAPackage("io.steelyard.domain..")
            .should()
            .onlyDependOnClassesThat()
            .resideInAnyPackage("java..", "io.steelyard.domain.."));
  }

  @ParameterizedTest
  @MethodSource("edges")
  void onlyTheTopKnowsAnEdge(String edge) {
    check(
        noClasses()
            .that()
            .resideOutsideOfPackages(TOP, edge)
            .should()
            .dependOnClassesThat()
            .resideInAPackage(edge));
  }

  static List<String> edges() {
    return List.of(EDGES);
  }

  @Test
  void httpReachesTheDatabaseThroughMessagesOnly() {
    check(
        noClasses()
            .that()
            .resideInAPackage("io.steelyard.http..")
            .should()
            .dependOnClassesThat(STORES.or(resideInAPackage("io.steelyard.db.."))));
  }

  /** Or a command could do what the operator API would not. */
  @Test
  void theCommandLineReachesFeaturesThroughTheOperatorApiOnly() {
    check(
        noClasses()
            .that()
            .resideInAPackage("io.steelyard.cli..")
            .should()
            .dependOnClassesThat(resideInAnyPackage(FEATURES).or(STORES)));
  }

  /** What each may know of the others besides their messages. */
  @ParameterizedTest
  @MethodSource("directions")
  void featuresDependOneWay(Direction direction) {
    check(
        noClasses()
            .that()
            .resideInAPackage(direction.below())
            .should()
            .dependOnClassesThat(
                resideInAnyPackage(direction.above().toArray(String[]::new)).and(not(MESSAGES))));
  }

  record Direction(String below, List<String> above) {
    static Direction of(String below, String... above) {
      return new Direction(packages(below)[0], List.of(packages(above)));
    }
  }

  static List<Direction> directions() {
    return List.of(
        Direction.of("subscription", "customer", "delivery"),
        Direction.of("invoice", "customer", "subscription", "gateway", "delivery"),
        Direction.of("credit", "customer", "subscription", "invoice", "delivery"),
        Direction.of("usage", "delivery"),
        Direction.of(
            "gateway", "customer", "subscription", "invoice", "credit", "usage", "delivery"),
        Direction.of("delivery", "customer", "subscription", "credit", "usage"),
        Direction.of(
            "catalog",
            "customer",
            "subscription",
            "invoice",
            "credit",
            "usage",
            "gateway",
            "delivery"),
        Direction.of(
            "merchant",
            "customer",
            "subscription",
            "invoice",
            "credit",
            "usage",
            "gateway",
            "delivery"),
        Direction.of(
            "integrity", "customer", "subscription", "invoice", "credit", "gateway", "billing"));
  }

  @Test
  void onlyTheOperatorAsksForTheIntegrityCheck() {
    check(
        noClasses()
            .that()
            .resideOutsideOfPackages(TOP, "io.steelyard.integrity..", "io.steelyard.operator..")
            .should()
            .dependOnClassesThat()
            .resideInAPackage("io.steelyard.integrity.."));
  }

  @Test
  void theBusKnowsNobodyWhoUsesIt() {
    check(
        noClasses()
            .that()
            .resideInAPackage("io.steelyard.bus..")
            .should()
            .dependOnClassesThat(
                resideInAnyPackage(FEATURES)
                    .or(resideInAnyPackage(EDGES))
                    .or(resideInAnyPackage("io.steelyard.db..", TOP))));
  }

  @Test
  void onlyTheMerchantsClockAndTheDeadlineOfACallAskForTheTime() {
    check(
        noClasses()
            .that(not(named("io.steelyard.merchant.MerchantClock", "io.steelyard.bus.Call")))
            .should()
            .accessTargetWhere(ASKS_FOR_THE_TIME));
  }

  @Test
  void onlyTheTopBuildsTheSystemsClockToHandItOn() {
    check(
        noClasses().that().resideOutsideOfPackage(TOP).should().accessTargetWhere(BUILDS_A_CLOCK));
  }

  private static final DescribedPredicate<JavaAccess<?>> ASKS_FOR_THE_TIME =
      describe("ask for the time", access -> asksForTheTime(access.getTarget()));

  private static final DescribedPredicate<JavaAccess<?>> BUILDS_A_CLOCK =
      describe(
          "build a clock",
          access -> {
            AccessTarget target = access.getTarget();
            return target.getOwner().isEquivalentTo(Clock.class)
                && (target.getName().startsWith("system") || target.getName().startsWith("tick"));
          });

  private static boolean asksForTheTime(AccessTarget target) {
    JavaClass owner = target.getOwner();
    return switch (target.getName()) {
      case "now" -> owner.getPackageName().startsWith("java.time");
      case "currentTimeMillis" -> owner.isEquivalentTo(System.class);
      case "<init>" -> owner.isEquivalentTo(Date.class);
      default -> false;
    };
  }

  private static DescribedPredicate<JavaClass> named(String... names) {
    return describe("named " + List.of(names), type -> List.of(names).contains(type.getName()));
  }

  private static JavaClass outermost(JavaClass type) {
    return type.getEnclosingClass().map(ArchitectureTest::outermost).orElse(type);
  }

  private static String[] packages(String... names) {
    return List.of(names).stream().map(name -> TOP + "." + name + "..").toArray(String[]::new);
  }

  /** Packages may be empty while the house is being built. */
  private static void check(ArchRule rule) {
    rule.allowEmptyShould(true).check(STEELYARD);
  }

  /** Or it would not be compared, set and recorded in one. */
  @Test
  void onlyDraftingAndTransitionsChangeTheStateOfInvoices() throws IOException {
    Pattern update =
        Pattern.compile("UPDATE invoice\\b(?:(?!\"\"\"|;).)*?\\bstatus\\s*=", Pattern.DOTALL);
    try (Stream<Path> sources = Files.walk(Path.of("src/main/java"))) {
      assertThat(
              sources
                  .filter(source -> source.toString().endsWith(".java"))
                  .filter(
                      source ->
                          update.matcher(text(source)).results().anyMatch(ArchitectureTest::sets))
                  .map(source -> source.getFileName().toString()))
          .containsExactlyInAnyOrder(
              "DraftStore.java", "PendingStore.java", "TransitionStore.java");
    }
  }

  private static boolean sets(MatchResult update) {
    return !update.group().contains("WHERE");
  }

  private static String text(Path source) {
    try {
      return Files.readString(source);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}

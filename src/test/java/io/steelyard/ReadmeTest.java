package io.steelyard;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What the README names is there. */
class ReadmeTest {
  private static final Path TESTS = Path.of("src", "test", "java", "io", "steelyard");

  /** {@code CrashIT}, {@code billing/CrashIT}, {@code -Dit.test=CrashIT}. */
  private static final Pattern TEST = Pattern.compile("\\b([A-Z][a-z]\\w*(?:IT|Test|Faults))\\b");

  @Test
  void everyTestThatItNamesExists() throws IOException {
    Set<String> named =
        TEST.matcher(Files.readString(Path.of("README.md")))
            .results()
            .map(found -> found.group(1))
            .collect(Collectors.toCollection(TreeSet::new));

    assertThat(named).hasSizeGreaterThan(20);
    assertThat(tests()).containsAll(named);
  }

  private static Set<String> tests() throws IOException {
    try (Stream<Path> files = Files.walk(TESTS)) {
      return files
          .map(file -> file.getFileName().toString())
          .filter(name -> name.endsWith(".java"))
          .map(name -> name.replace(".java", ""))
          .collect(Collectors.toCollection(TreeSet::new));
    }
  }

  /** One line each of the table that says what stops an intruder. */
  @Test
  void everyRiskOfTheOwaspListHasATestThatShowsWhatStopsIt() throws IOException {
    Set<String> shown =
        Pattern.compile("(?m)^\\| (API\\d+):2023 .*\\|.*\\|.*`\\w+(?:IT|Test|Faults)`.*\\|$")
            .matcher(Files.readString(Path.of("README.md")))
            .results()
            .map((MatchResult found) -> found.group(1))
            .collect(Collectors.toCollection(TreeSet::new));

    assertThat(shown)
        .containsExactlyInAnyOrder(
            "API1", "API2", "API3", "API4", "API5", "API6", "API7", "API8", "API9", "API10");
  }
}

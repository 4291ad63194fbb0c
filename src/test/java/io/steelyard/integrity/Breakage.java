package io.steelyard.integrity;

import static org.assertj.core.api.Assertions.assertThat;

import io.steelyard.support.TestApp.Answer;
import java.util.List;

/**
 * A way to break the books.
 *
 * @param expected the findings as check, prefix of the subject's id, and a query for its UUID
 */
record Breakage(String name, List<String> expected, String... sql) {
  static Breakage of(String name, List<String> expected, String... sql) {
    return new Breakage(name, expected, sql);
  }

  /** Breaks books that were clean before: what is expected is found, and nothing else. */
  void isFoundIn(Books books) {
    assertThat(Books.findings(books.check())).isEmpty();

    books.sql(sql);

    Answer report = books.check();
    assertThat(report.<Boolean>at("clean")).isFalse();
    assertThat(Books.findings(report))
        .as(report.text())
        .containsExactlyInAnyOrderElementsOf(
            expected.stream().map(each -> subject(books, each)).toList());
  }

  private static String subject(Books books, String expected) {
    String[] parts = expected.split(" ", 3);
    return parts[0] + " " + parts[1] + " " + books.one(parts[2]);
  }

  @Override
  public String toString() {
    return name;
  }
}

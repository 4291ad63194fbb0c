package io.steelyard.web;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class PercentTest {
  @ParameterizedTest
  @CsvSource({
    "abc, abc",
    "a%20b, a b",
    "%41%7a, Az",
    "%C3%A9%e4%b8%ad%F0%9F%98%80, é中😀",
    "é, é",
    "%2F%25%2B, /%+",
    "%2541, %41"
  })
  void escapesAreUtf8(String text, String decoded) {
    assertThat(Percent.decode(text, false)).contains(decoded);
    assertThat(Percent.decode(text, true)).contains(decoded);
  }

  @Test
  void aPlusIsASpaceInAQueryOnly() {
    assertThat(Percent.decode("a+b", true)).contains("a b");
    assertThat(Percent.decode("a+b", false)).contains("a+b");
    assertThat(Percent.decode("", false)).contains("");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "%",
        "%4",
        "a%",
        "%4g",
        "%g4",
        "%-1",
        "%+1",
        "%00",
        "%zz",
        "%%41",
        "%C3",
        "%C3%28",
        "%C0%80",
        "%ED%A0%80",
        "%F4%90%80%80",
        "%FF"
      })
  void whatIsNoEscapeOrNoTextIsRefused(String text) {
    assertThat(Percent.decode(text, false)).isEmpty();
  }
}

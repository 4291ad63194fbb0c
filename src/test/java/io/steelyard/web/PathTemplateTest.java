package io.steelyard.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PathTemplateTest {
  @ParameterizedTest
  @CsvSource({
    "/a, /a, true",
    "/a, /a/, false",
    "/a, /ab, false",
    "/a, a, false",
    "/a, '', false",
    "/a, /, false",
    "/a, /A, false",
    "/a/, /a/, true",
    "/a/, /a, false",
    "/a/, /a//, false",
    "/a/b, /a/b, true",
    "/a/b, /a//b, false",
    "/a/b, /a/bc, false",
    "/a/b, /ab, false",
    "/{x}, /, true",
    "/{x}, /y/, false",
    "/a/{x}, /a/%2F, true",
    "/a/{x}, /a, false",
    "/a/{x}/c, /a//c, true",
    "/a/{x}/c, /a/b, false",
    "/a/{x}/c, /a/b/d, false",
    "/a/{x}/c/{y}, /a/b/c/d, true",
  })
  void aPathMatchesSegmentBySegment(String template, String path, boolean matches) {
    assertThat(new PathTemplate(template).match(path) != null).isEqualTo(matches);
  }

  @Test
  void parametersAreSegmentsAsTheyWereSent() {
    PathTemplate template = new PathTemplate("/a/{first}/b/{second}");

    assertThat(template.parameters()).containsExactly("first", "second");
    assertThat(template.match("/a/x%20y/b/")).containsExactly("x%20y", "");
    assertThat(template.match("/a//b/z")).containsExactly("", "z");
  }

  @Test
  void aParameterIsAWholeSegment() {
    assertThatThrownBy(() -> new PathTemplate("/a/x{y}"))
        .isInstanceOf(IllegalArgumentException.class);
  }
}

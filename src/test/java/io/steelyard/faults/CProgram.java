package io.steelyard.faults;

import static org.junit.jupiter.api.Assumptions.abort;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** What only C can do, from a source among the tests' resources. */
final class CProgram {
  private CProgram() {}

  /**
   * Compiles it. Without a C compiler the test is reported as not run.
   *
   * @param source its name in {@code /faults/}
   * @param dir has no other's files
   * @param options of the compiler
   * @return what was made
   */
  static Path compile(String source, Path dir, String... options) throws IOException {
    Path copy = dir.resolve(source);
    try (InputStream in = CProgram.class.getResourceAsStream("/faults/" + source)) {
      Files.copy(in, copy);
    }
    Path made = dir.resolve(source + ".out");
    List<String> command = new ArrayList<>(List.of("cc", "-O2", "-o", made.toString()));
    command.addAll(List.of(options));
    command.add(copy.toString());
    try {
      Shell.run(command);
    } catch (Shell.NotThere e) {
      abort("NOT RUN: there is no C compiler here");
    }
    return made;
  }
}
